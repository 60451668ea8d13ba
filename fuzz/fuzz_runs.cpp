// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_runs.h"

#include <optional>

#include "eval/journal/judgment_store.h"
#include "eval/journal/run_data.h"
#include "eval/journal/sample.h"
#include "eval/plan/plan.h"
#include "eval/run/judge_record.h"
#include "eval/verdict/judged_run.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/one_run.h"
#include "report/export/run_rows_json.h"
#include "report/terminal/runs_text.h"
#include "util/files.h"
#include "util/json.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {
namespace {

std::vector<Sample> SomeSamples() {
  Sample answer = OneSample();
  Sample other = OneSample();
  other.arm = Arm::kSkill;
  other.response.cost_usd = 0.25;
  other.response.seconds = 2.0;
  Sample failed = OneSample();
  failed.case_id = "b";
  failed.error = Error{ErrorKind::kUnavailable, "broken"}.Because(ErrorCause::kBroken);
  return {answer, other, failed};
}

const TempFolder& FolderOfRuns() {
  static const TempFolder folder = TempFolder::Make("upskill-fuzz-").value();
  return folder;
}

}  // namespace

void FuzzRunSummaries(std::string_view input) {
  const Result<Json> json = ParseJson(input, "summaries.jsonl");
  if (!Parsed(json)) return;
  const Result<std::vector<RunRow>> rows = RowsFromJson(*json);
  if (!Parsed(rows)) return;
  const std::string written = DumpJson(RowsToJson(*rows));
  const Result<Json> read = ParseJson(written, "summaries.jsonl");
  CHECK(read.ok());
  const Result<std::vector<RunRow>> again = RowsFromJson(*read);
  CHECK(again.ok() && DumpJson(RowsToJson(*again)) == written);
  const Style style;
  for (const RunMetric metric : {RunMetric::kSuccess, RunMetric::kTokens, RunMetric::kCost, RunMetric::kTime})
    CHECK(!FindInvalidUtf8(RunBars(*rows, metric, style).text()));
  CHECK(!FindInvalidUtf8(RunTable(*rows, style).text()) && !FindInvalidUtf8(RunCsv(*rows)));
}

std::vector<std::string> RunSummariesSeeds() {
  return {DumpJson(RowsToJson(RowsOf(Judge(RunData(OnePlan(), SomeSamples())))))};
}

void FuzzJudgeFiles(std::string_view input) {
  const TempFolder& folder = FolderOfRuns();
  folder.Write(kJudgesFile, input);
  const Result<std::optional<JudgeRecord>> record =
      FindJudgeRecord(folder.path(), "sim:base=0.4", {"Is it right?", "Is it short?"});
  if (Parsed(record) && *record) CHECK((*record)->counts.total() >= 0 && (*record)->rubrics_checked <= 2);
  folder.Write(kJudgmentsFile, input);
  const Result<JudgmentStore> store = JudgmentStore::Open(folder.path());
  if (!Parsed(store)) return;
  if (const StoredJudgment* const found = store->Find("k")) {
    const Result<StoredJudgment> again = JudgmentFromJson(JudgmentToJson(*found));
    CHECK(again.ok() && DumpJson(JudgmentToJson(*again)) == DumpJson(JudgmentToJson(*found)));
  }
}

std::vector<std::string> JudgeFilesSeeds() {
  const TempFolder folder = TempFolder::Make("upskill-fuzz-").value();
  RubricRecord record;
  record.judge = "sim:base=0.4";
  record.rubric = RubricHash("Is it right?");
  record.counts = {3, 1, 1, 4};
  record.time = "2026-01-02";
  record.effective = {2.5, 1.0, 1.0, 4.0};
  record.with_skill = {1, 1, 0, 2};
  CHECK(AppendJudgeRecords(folder.path(), {record}).ok());
  StoredJudgment stored;
  stored.key = "k";
  stored.usage.output = 3;
  stored.cost_usd = 0.5;
  return {ReadFile(folder.path() / kJudgesFile).value(), DumpJson(JudgmentToJson(stored)) + "\n"};
}

}  // namespace upskill
