// SPDX-License-Identifier: Apache-2.0
#include "report/export/python_files.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/report_fixture.h"
#include "util/files.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

Json ReadJson(const fs::path& file) {
  const Result<std::string> text = ReadFile(file);
  CHECK(text.ok());
  Result<Json> json = ParseJson(*text, file.string());
  CHECK(json.ok());
  return std::move(json).value();
}

std::vector<std::string> NamesIn(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& item : object.items()) keys.push_back(item.key());
  return keys;
}

// What the Python tool wrote: a result with the given numbers.
std::string PythonResult(int number, const std::string& type, int passed, int total) {
  return Json{{"metadata",
               {{"model", "kimi"},
                {"task", "write a good pr"},
                {"batch_id", "2026_01_22_13_10"},
                {"run_number", number},
                {"timestamp", "2026-01-22T13:10:45.370438"}}},
              {"stats",
               {{"conversation_span_ms", 14484.33},
                {"turns", 5},
                {"input_tokens", 276},
                {"output_tokens", 2837},
                {"total_tokens", 3113}}},
              {"passed", true},
              {"assertions_passed", passed},
              {"assertions_total", total},
              {"error_message", nullptr},
              {"run_type", type},
              {"skill_name", "write-good-pr"}}
      .dump();
}

class PythonFiles : public ::testing::Test {
 protected:
  fs::path RunFolder(const std::string& name) const {
    CHECK(MakeFolders(folder_.path() / name).ok());
    return folder_.path() / name;
  }

  TempFolder folder_;
};

TEST_F(PythonFiles, HaveTheKeysOfThePythonTool) {
  const ReportRun run;
  const fs::path folder = RunFolder(run.plan.run);
  ASSERT_TRUE(WritePythonFiles(run.judged(), folder).ok());
  EXPECT_THAT(NamesIn(ReadJson(folder / "run_1" / "run_metadata.json")),
              ElementsAre("model", "task", "batch_id", "run_number", "timestamp"));
  const Json result = ReadJson(folder / "run_2" / "run_result.json");
  EXPECT_THAT(NamesIn(result),
              ElementsAre("metadata", "stats", "passed", "assertions_passed", "assertions_total", "error_message",
                          "session_id", "session_history_file", "run_type", "skill_name"));
  EXPECT_THAT(NamesIn(result.at("stats")),
              ElementsAre("conversation_span_ms", "llm_time_ms", "tool_time_ms", "turns", "tool_calls", "tool_errors",
                          "mcp_calls", "execute_calls", "tool_call_map", "tool_error_map", "input_tokens",
                          "output_tokens", "total_tokens", "usage_summaries", "timing_summaries"));
  EXPECT_THAT(NamesIn(ReadJson(folder / "batch_summary.json")),
              ElementsAre("batch_id", "model", "task", "total_runs", "passed_runs", "results"));
}

TEST_F(PythonFiles, TellTheRunsNumbers) {
  const ReportRun run;
  const fs::path folder = RunFolder(run.plan.run);
  ASSERT_TRUE(WritePythonFiles(run.judged(), folder).ok());
  const Json baseline = ReadJson(folder / "run_1" / "run_result.json");
  EXPECT_EQ(baseline.at("run_type"), "baseline");
  EXPECT_EQ(baseline.at("passed"), false);  // half of the answers are not most of them
  EXPECT_EQ(baseline.at("assertions_passed"), 2);
  EXPECT_EQ(baseline.at("assertions_total"), 4);
  EXPECT_TRUE(baseline.at("error_message").is_null());
  const Json skill = ReadJson(folder / "run_2" / "run_result.json");
  EXPECT_EQ(skill.at("run_type"), "with_skill");
  EXPECT_EQ(skill.at("passed"), true);  // the verdict is: helps
  EXPECT_EQ(skill.at("assertions_total"), 3);
  EXPECT_EQ(skill.at("error_message"), "1 of 4 cells unanswered; the first: overloaded");
  EXPECT_EQ(skill.at("stats").at("input_tokens"), 690);
  EXPECT_EQ(skill.at("stats").at("output_tokens"), 36);
  EXPECT_EQ(skill.at("stats").at("total_tokens"), 726);
  EXPECT_EQ(skill.at("stats").at("turns"), 3);
  EXPECT_EQ(skill.at("stats").at("llm_time_ms"), 4500.0);
  EXPECT_THAT(skill.at("metadata").at("timestamp").get<std::string>(),
              testing::MatchesRegex("2026-11-2[012]T..:..:33"));
  const Json batch = ReadJson(folder / "batch_summary.json");
  EXPECT_EQ(batch.at("total_runs"), 2);
  EXPECT_EQ(batch.at("passed_runs"), 1);
  EXPECT_EQ(batch.at("results").at(1), skill);
}

// The Python tool takes only whole numbers there; it loads a result without them.
TEST_F(PythonFiles, UnknownTokensAreLeftOut) {
  ReportRun run;
  run.ForgetTokens();
  const fs::path folder = RunFolder(run.plan.run);
  ASSERT_TRUE(WritePythonFiles(run.judged(), folder).ok());
  const Json stats = ReadJson(folder / "run_1" / "run_result.json").at("stats");
  for (const char* key : {"input_tokens", "output_tokens", "total_tokens"}) EXPECT_FALSE(stats.contains(key)) << key;
  EXPECT_EQ(stats.at("turns"), 4);
  EXPECT_THAT(*ReadFile(folder_.path() / "results.csv"), HasSubstr(",False,2,4,,,,6000.0,"));
  fs::remove(folder / "plan.json");
  const Result<PythonRun> read = ReadPythonRun(folder);
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->rows.at(0).student.arms.at(Arm::kSkill).reports_tokens());
}

TEST_F(PythonFiles, NumbersGoOnOverStudents) {
  ReportRun run;
  run.plan.students.push_back({"b", "b", "b"});
  run.verdicts.emplace_back();
  const fs::path folder = RunFolder(run.plan.run);
  ASSERT_TRUE(WritePythonFiles(run.judged(), folder).ok());
  EXPECT_EQ(ReadJson(folder / "run_4" / "run_result.json").at("metadata").at("model"), "b");
  EXPECT_EQ(ReadJson(folder / "batch_summary.json").at("model"), "sim:base=0.4, b");
}

TEST_F(PythonFiles, AnotherResultsCsvIsNotReplaced) {
  folder_.Write("results.csv", "my,precious,data\n");
  const Status written = WriteResultsCsv(folder_.path());
  ASSERT_FALSE(written.ok());
  EXPECT_THAT(written.error().message, testing::HasSubstr("is not a table of runs, so it was not replaced"));
  EXPECT_EQ(*ReadFile(folder_.path() / "results.csv"), "my,precious,data\n");
}

TEST_F(PythonFiles, ResultsCsvHasEveryRunAsPythonWritesIt) {
  folder_.Write("2026_01_22_13_10/run_1/run_result.json", PythonResult(1, "baseline", 5, 5));
  folder_.Write("2026_01_22_13_10/run_10/run_result.json", PythonResult(10, "with_skill", 5, 5));
  folder_.Write("2026_01_22_13_10/run_2/run_metadata.json",
                R"({"model": "=kimi", "task": "two\nlines", "batch_id": "b", "run_number": 2})");
  folder_.Write("2026_01_22_13_10/run_3/run_result.json", "{broken");
  folder_.Write("notes/readme.txt", "no run");
  const ReportRun run;
  ASSERT_TRUE(WritePythonFiles(run.judged(), RunFolder(run.plan.run)).ok());
  const Result<std::string> csv = ReadFile(folder_.path() / "results.csv");
  ASSERT_TRUE(csv.ok());
  EXPECT_THAT(*csv, StartsWith("batch_id,run_number,model,task,timestamp,passed,assertions_passed,assertions_total,"
                               "input_tokens,output_tokens,total_tokens,"
                               "conversation_span_ms,llm_time_ms,tool_time_ms,turns,tool_calls,tool_errors,mcp_calls,"
                               "execute_calls,error_message,session_id,"
                               "session_history_file\r\n"
                               "2026_01_22_13_10,1,kimi,write a good "
                               "pr,2026-01-22T13:10:45.370438,True,5,5,276,2837,3113,14484.33,0.0,0.0,5,0,0,0,0,,,\r\n"
                               "2026_01_22_13_10,10,"));
  EXPECT_THAT(
      *csv,
      HasSubstr("\r\nb,2,'=kimi,\"two\nlines\",,False,0,0,0,0,0,0.0,0.0,0.0,0,0,0,0,0,No result file found,,\r\n"));
  EXPECT_THAT(*csv, HasSubstr(",manifests,"));
  EXPECT_THAT(*csv, EndsWith("overloaded,,\r\n"));
}

TEST_F(PythonFiles, ReadsAnEvaluation) {
  folder_.Write("2026_01_22_13_10/run_1/run_result.json", PythonResult(1, "baseline", 3, 5));
  folder_.Write("2026_01_22_13_10/run_2/run_result.json", PythonResult(2, "with_skill", 5, 5));
  const Result<PythonRun> run = ReadPythonRun(folder_.path() / "2026_01_22_13_10");
  ASSERT_TRUE(run.ok());
  ASSERT_THAT(run->rows, SizeIs(1));
  const RunRow& row = run->rows[0];
  EXPECT_EQ(row.run, "2026_01_22_13_10");
  EXPECT_EQ(row.skill, "write-good-pr");
  EXPECT_EQ(row.student.student.spec, "kimi");
  EXPECT_EQ(row.student.arms.at(Arm::kBaseline).passed, 3U);
  EXPECT_EQ(row.student.arms.at(Arm::kSkill).rate(), 1.0);
  EXPECT_EQ(row.student.arms.at(Arm::kSkill).output_tokens, 2837);
  EXPECT_NEAR(*row.student.lift, 0.4, 1e-12);
  EXPECT_EQ(row.answered, 10U);
}

TEST_F(PythonFiles, ReadsRefinementAndBenchmark) {
  for (int attempt = 0; attempt < 6; ++attempt) {
    const bool baseline = attempt % 2 == 0;
    folder_.Write("refine/run_" + std::to_string(attempt + 1) + "/run_result.json",
                  PythonResult(attempt + 1, baseline ? "baseline" : "with_skill", attempt / 2 + (baseline ? 0 : 2), 5));
    folder_.Write("benchmark/run_" + std::to_string(attempt + 1) + "/run_result.json",
                  PythonResult(attempt + 1, "with_skill", 4, 5));
  }
  const Result<PythonRun> refine = ReadPythonRun(folder_.path() / "refine");
  ASSERT_TRUE(refine.ok());
  ASSERT_THAT(refine->rows, SizeIs(3));
  EXPECT_EQ(refine->rows[2].student.arms.at(Arm::kBaseline).passed, 2U);
  EXPECT_EQ(refine->rows[2].student.arms.at(Arm::kSkill).passed, 4U);
  const Result<PythonRun> benchmark = ReadPythonRun(folder_.path() / "benchmark");
  ASSERT_TRUE(benchmark.ok());
  ASSERT_THAT(benchmark->rows, SizeIs(1));
  EXPECT_EQ(benchmark->rows[0].student.arms.at(Arm::kSkill).answered, 30U);
  EXPECT_FALSE(benchmark->rows[0].student.lift);
}

TEST_F(PythonFiles, ReadsWhatIsLeftOfABatch) {
  folder_.Write("batch/batch_summary.json", "{\"results\": [" + PythonResult(1, "baseline", 1, 2) + ", 5]}");
  const Result<PythonRun> batch = ReadPythonRun(folder_.path() / "batch");
  ASSERT_TRUE(batch.ok());
  EXPECT_EQ(batch->rows.at(0).student.arms.at(Arm::kBaseline).passed, 1U);

  folder_.Write("metadata/run_1/run_metadata.json", R"({"model": "kimi", "task": "t", "run_number": 1})");
  const Result<PythonRun> metadata = ReadPythonRun(folder_.path() / "metadata");
  ASSERT_TRUE(metadata.ok());
  EXPECT_EQ(metadata->rows.at(0).student.arms.at(Arm::kSkill).errors, 1U);
  EXPECT_EQ(metadata->rows.at(0).answered, 0U);

  EXPECT_FALSE(ReadPythonRun(folder_.path() / "nothing").ok());
}

TEST_F(PythonFiles, HostileResultsAreHarmless) {
  folder_.Write(
      "x/run_1/run_result.json",
      R"({"metadata": {"model": 5, "run_number": "one"}, "assertions_passed": 1e300, "assertions_total": -7, "stats": []})");
  folder_.Write(
      "x/run_2/run_result.json",
      R"({"metadata": {"model": "m"}, "assertions_passed": 9, "assertions_total": 2, "stats": {"input_tokens": -5}})");
  folder_.Write("x/run_3/run_result.json", "[]");
  folder_.Write("x/run_4/run_result.json", "{");
  const Result<PythonRun> run = ReadPythonRun(folder_.path() / "x");
  ASSERT_TRUE(run.ok());
  EXPECT_THAT(run->warnings, SizeIs(2));
  for (const RunRow& row : run->rows) {
    for (const auto& [arm, summary] : row.student.arms) EXPECT_LE(summary.passed, summary.answered);
  }
  EXPECT_TRUE(WriteResultsCsv(folder_.path()).ok());
}

TEST_F(PythonFiles, FindsOnlyWhatThePythonToolWrote) {
  folder_.Write("b/run_1/run_metadata.json", "{}");
  folder_.Write("a/batch_summary.json", "{}");
  folder_.Write("ours/plan.json", "{}");
  folder_.Write("ours/run_1/run_result.json", "{}");
  folder_.Write("other/readme", "");
  EXPECT_THAT(FindPythonRuns(folder_.path()), ElementsAre(folder_.path() / "a", folder_.path() / "b"));
  EXPECT_THAT(FindPythonRuns(folder_.path() / "missing"), SizeIs(0));
}

}  // namespace
}  // namespace upskill
