// SPDX-License-Identifier: Apache-2.0
#include "fuzz/fuzz_runs.h"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "eval/index_checksum.h"
#include "eval/judge_record.h"
#include "eval/judged_run.h"
#include "eval/judgment_store.h"
#include "eval/plan.h"
#include "eval/run_data.h"
#include "eval/run_index.h"
#include "eval/sample.h"
#include "fuzz/fuzz_checks.h"
#include "fuzz/one_run.h"
#include "report/eval_json.h"
#include "report/run_rows_json.h"
#include "report/runs_text.h"
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

// A run's folder with an index of its journal.
class IndexedRun {
 public:
  IndexedRun() : folder_(TempFolder::Make("upskill-fuzz-").value()) {
    folder_.Write("plan.json", DumpJson(PlanToJson(plan_)));
    std::string lines;
    for (const Sample& sample : SomeSamples()) lines += DumpJson(SampleToJson(sample)) + "\n";
    journal_ = OpenRegularFile(folder_.Write("samples.jsonl", lines)).value();
    const Result<RunData> data = RunData::Read(folder_.path(), {});
    CHECK(data.ok() && Index().Store(*data).ok());
    index_ = ReadFile(folder_.path() / kIndexFile).value();
    constexpr std::size_t kMagicBytes = 16;
    std::uint64_t identity = 0;
    CHECK(index_.size() > kMagicBytes + sizeof identity);
    std::memcpy(&identity, index_.data() + kMagicBytes, sizeof identity);
    head_ = index_.substr(0, kMagicBytes + sizeof identity + identity);
    CHECK(head_.size() < index_.size());
  }

  std::string content() const {
    return index_.substr(head_.size(), index_.size() - head_.size() - sizeof(std::uint64_t));
  }

  std::optional<RunData> LoadWith(std::string_view content) const {
    std::string bytes = head_ + std::string(content);
    IndexChecksum sum;
    sum.Add(bytes.data(), bytes.size());
    const std::uint64_t value = sum.value();
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);  // NOLINT(*-reinterpret-cast)
    folder_.Write(kIndexFile, bytes);
    return Index().Load(plan_);
  }

 private:
  RunIndex Index() const {
    using std::chrono::hours;
    return {folder_.path(), journal_, std::chrono::system_clock::now() + hours(24)};
  }

  Plan plan_ = OnePlan();
  TempFolder folder_;
  Fd journal_;
  std::string index_;
  std::string head_;  // of the file: magic and identity
};

const IndexedRun& OneIndexedRun() {
  static const IndexedRun run;
  return run;
}

const TempFolder& FolderOfRuns() {
  static const TempFolder folder = TempFolder::Make("upskill-fuzz-").value();
  return folder;
}

// Whether the index says of an answer that its line in the journal has work of tools.
bool HasWork(const RunData& data) {
  for (const Arm arm : data.plan().arms) {
    for (std::size_t i = 0; i < data.plan().suite.cases.size(); ++i) {
      for (int round = 0; round < data.rounds(0); ++round) {
        const FinalSample cell = data.at(0, arm, i, round);
        if (cell.answered && cell.figures->has_work()) return true;
      }
    }
  }
  return false;
}

}  // namespace

void FuzzRunIndex(std::string_view input) {
  std::optional<RunData> data = OneIndexedRun().LoadWith(input);
  // Work is read from the journal, which RunData::Read opens and RunIndex doesn't.
  if (!data || HasWork(*data)) return;
  const Plan& plan = data->plan();
  const std::size_t cells = plan.arms.size() * plan.suite.cases.size() * static_cast<std::size_t>(plan.rounds);
  CHECK(data->sample_count() <= cells);
  const JudgedRun run = Judge(*std::move(data));
  CHECK(run.summary.answered <= run.summary.cells);
  for (const auto& [arm, summary] : run.summary.students.front().arms) {
    CHECK(summary.answered + summary.errors <= summary.cells && summary.passed <= summary.answered);
    CHECK(summary.checks_passed <= summary.checks_total);
    CHECK(summary.prompt_tokens >= 0 && summary.output_tokens >= 0);
  }
  CHECK(ParseJson(DumpJson(EvalToJson(run)), "eval --json").ok());
}

std::vector<std::string> RunIndexSeeds() { return {OneIndexedRun().content()}; }

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
  CHECK(AppendJudgeRecords(folder.path(), {{"sim:base=0.4", RubricHash("Is it right?"), {3, 1, 1, 4}, "2026-01-02"}})
            .ok());
  StoredJudgment stored;
  stored.key = "k";
  stored.usage.output = 3;
  stored.cost_usd = 0.5;
  return {ReadFile(folder.path() / kJudgesFile).value(), DumpJson(JudgmentToJson(stored)) + "\n"};
}

}  // namespace upskill
