// SPDX-License-Identifier: Apache-2.0
#include "report/export/benchmark_json.h"

#include <gmock/gmock.h>

#include <string>

#include "support/report_fixture.h"
#include "util/files.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(GradingToJson, BothSpellings) {
  const ReportRun run;
  const Json json = GradingToJson(run.samples[2]);
  EXPECT_EQ(json.at("assertion_results"),
            Json::parse(R"([{"text": "contains \"edition = 5\"", "passed": false, "evidence": "not found"}])"));
  EXPECT_EQ(json.at("expectations"), json.at("assertion_results"));
  EXPECT_EQ(json.at("summary"), Json::parse(R"({"passed": 0, "failed": 1, "total": 1, "pass_rate": 0.0})"));
}

TEST(BenchmarkToJson, StatisticsOfASample) {
  const ReportRun run;
  const Json json = BenchmarkToJson(run.judged(), 0);
  const Json& without = json.at("run_summary").at("without_skill");
  // Pass rates 1, 1, 0, 0: mean 0.5, deviation sqrt(4 · 0.25 / 3).
  EXPECT_EQ(without.at("pass_rate"), Json::parse(R"({"mean": 0.5, "stddev": 0.5774, "min": 0.0, "max": 1.0})"));
  EXPECT_EQ(without.at("tokens").at("mean"), 46.0);
  EXPECT_EQ(without.at("time_seconds").at("stddev"), 0.0);
  EXPECT_EQ(json.at("run_summary").at("delta").at("pass_rate"), 0.5);
  EXPECT_EQ(json.at("run_summary").at("delta").at("tokens"), 196.0);
  EXPECT_EQ(json.at("metadata").at("executor_model"), "sim:base=0.4");
  EXPECT_EQ(json.at("metadata").at("evals_run"), Json({1, 2}));
  EXPECT_EQ(json.at("metadata").at("runs_per_configuration"), 2);
  JudgedRun stopped = run.judged();
  stopped.summary.students[0].rounds = 1;
  EXPECT_EQ(BenchmarkToJson(stopped, 0).at("metadata").at("runs_per_configuration"), 1);
}

TEST(BenchmarkToJson, ErrorsAreNoRuns) {
  const ReportRun run;
  const Json json = BenchmarkToJson(run.judged(), 0);
  EXPECT_THAT(json.at("runs"), SizeIs(7));
  EXPECT_THAT(json.at("notes"), Contains(Json("with_skill: 1 of 4 cells are unanswered and left out")));
}

TEST(BenchmarkToJson, WhatAReaderSumsIsTheSummary) {
  const ReportRun run;
  const Json json = BenchmarkToJson(run.judged(), 0);
  double sum = 0.0;
  int count = 0;
  for (const Json& entry : json.at("runs")) {
    const Json& result = entry.at("result");
    EXPECT_EQ(result.at("passed").get<int>() + result.at("failed").get<int>(), result.at("total").get<int>());
    EXPECT_EQ(entry.at("expectations").size(), result.at("total").get<std::size_t>());
    if (entry.at("configuration") != "with_skill") continue;
    sum += result.at("tokens").get<double>();
    ++count;
  }
  EXPECT_EQ(sum / count, json.at("run_summary").at("with_skill").at("tokens").at("mean").get<double>());
}

TEST(BenchmarkToJson, UnknownTokensAreNull) {
  ReportRun run;
  run.ForgetTokens();
  const Json json = BenchmarkToJson(run.judged(), 0);
  EXPECT_TRUE(json.at("runs").at(0).at("result").at("tokens").is_null());
  EXPECT_TRUE(json.at("run_summary").at("with_skill").at("tokens").is_null());
  EXPECT_TRUE(json.at("run_summary").at("delta").at("tokens").is_null());
  EXPECT_EQ(json.at("run_summary").at("delta").at("pass_rate"), 0.5);
  const TempFolder folder;
  ASSERT_TRUE(WriteBenchmarkFolder(run.judged(), 0, *Folder::Make(folder.path())).ok());
  const Result<std::string> timing = ReadFile(folder.path() / "eval-1-easy/with_skill/run-1/timing.json");
  ASSERT_TRUE(timing.ok()) << timing.error().message;
  EXPECT_THAT(*timing, HasSubstr("\"total_tokens\": null"));
  const Result<BenchmarkSummary> read = BenchmarkFromJson(json, "benchmark.json");
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->rows.at(0).student.arms.at(Arm::kSkill).reports_tokens());
  EXPECT_THAT(BenchmarkText(*read, Style{false, 120}).text(), HasSubstr("1.5 ± 0       –"));
}

TEST(BenchmarkToJson, WithoutAnyAnswer) {
  ReportRun run;
  run.samples.clear();
  const Json json = BenchmarkToJson(run.judged(), 0);
  EXPECT_THAT(json.at("runs"), IsEmpty());
  EXPECT_THAT(json.at("run_summary"), IsEmpty());
}

TEST(WriteBenchmarkFolder, TheTreeOfAnIteration) {
  const TempFolder folder;
  ReportRun run;
  run.plan.suite.cases[1].id = "../hard/case";
  for (Sample& sample : run.samples) {
    if (sample.case_id == "hard") sample.case_id = "../hard/case";
  }
  ASSERT_TRUE(WriteBenchmarkFolder(run.judged(), 0, Folder::Make(folder.path() / "iteration-1").value()).ok());
  const fs::path answer = folder.path() / "iteration-1" / "eval-2-hard-case" / "without_skill" / "run-1";
  EXPECT_EQ(ReadFile(answer / "outputs" / "answer.md").value(), "edition = 2");
  EXPECT_THAT(ReadFile(answer / "timing.json").value(), HasSubstr("\"duration_ms\": 1500"));
  const Result<Json> grading = ParseJson(ReadFile(answer / "grading.json").value(), "grading.json");
  ASSERT_TRUE(grading.ok());
  EXPECT_EQ(grading->at("assertion_results").size(), 1U);
  EXPECT_TRUE(fs::exists(folder.path() / "iteration-1" / "benchmark.json"));
  EXPECT_FALSE(fs::exists(folder.path() / "iteration-1" / "eval-2-hard-case" / "with_skill" / "run-2"));  // an error
}

TEST(BenchmarkFromJson, GivesBackWhatWasWritten) {
  const ReportRun run;
  const Result<BenchmarkSummary> read = BenchmarkFromJson(BenchmarkToJson(run.judged(), 0), "benchmark.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->skill, "manifests");
  EXPECT_EQ(read->pass_rate_delta, 0.5);
  EXPECT_EQ(read->configurations.at("without_skill").at("pass_rate").stddev, 0.5774);
  ASSERT_THAT(read->rows, SizeIs(1));
  EXPECT_EQ(read->rows[0].student.arms.at(Arm::kBaseline).passed, 2U);
  EXPECT_EQ(read->rows[0].student.arms.at(Arm::kSkill).answered, 3U);
  EXPECT_EQ(read->rows[0].student.lift, 0.5);
}

TEST(BenchmarkFromJson, TheOtherSpelling) {
  const Json json = Json::parse(R"({"metadata": {"skill_name": "pdf", "executor_model": "m"},
    "runs": [{"eval_id": 1, "configuration": "new_skill", "result": {"passed": 2, "total": 2, "tokens": 10}},
             {"eval_id": 1, "configuration": "old_skill", "result": {"passed": 1, "total": 2}}, 5, {"configuration": "with_skill"}],
    "run_summary": {"new_skill": {"pass_rate": {"mean": 0.85, "stddev": 0.05}}, "delta": {"pass_rate": "+0.50"}}})");
  const Result<BenchmarkSummary> read = BenchmarkFromJson(json, "benchmark.json");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->pass_rate_delta, 0.5);
  EXPECT_EQ(read->configurations.at("new_skill").at("pass_rate").mean, 0.85);
  EXPECT_EQ(read->rows.at(0).student.arms.at(Arm::kPrevious).passed, 0U);
  EXPECT_EQ(read->rows.at(0).student.lift, 1.0);
  EXPECT_FALSE(BenchmarkFromJson(Json::parse("{}"), "b").ok());
}

TEST(BenchmarkText, SummaryOfAnyConfigurations) {
  const Json json = Json::parse(R"({"run_summary": {
    "new_skill": {"pass_rate": {"mean": 0.85, "stddev": 0.05}, "tokens": {"mean": 1200, "stddev": 30}},
    "old_skill": {"pass_rate": {"mean": 0.5, "stddev": 0.1}}, "delta": {"pass_rate": "+0.35"}}})");
  EXPECT_EQ(BenchmarkText(*BenchmarkFromJson(json, "b"), {false, 100}).text(),
            "a benchmark.json without a name\n"
            "configuration  checks passed  seconds     tokens\n"
            "new_skill           85 % ± 5        –  1200 ± 30\n"
            "old_skill          50 % ± 10        –          –\n"
            "difference  +35 points of checks passed\n");
}

}  // namespace
}  // namespace upskill
