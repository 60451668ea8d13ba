// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "import/imported_run.h"
#include "import/read_results.h"
#include "import/readers.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;

Result<ImportedResults> FromBenchmark(const std::string& text, const ImportOptions& options = {}) {
  return ReadResultsText(text, "benchmark.json", options);
}

// The example of skill-creator's references/schemas.md, completed to two evals.
constexpr const char* kDocumentedBenchmark = R"({
  "metadata": {"skill_name": "pdf", "skill_path": "/path/to/pdf", "executor_model": "claude-sonnet-4-20250514",
    "analyzer_model": "most-capable-model", "timestamp": "2026-01-15T10:30:00Z", "evals_run": [1, 2],
    "runs_per_configuration": 1},
  "runs": [
    {"eval_id": 1, "eval_name": "Ocean", "configuration": "with_skill", "run_number": 1,
     "result": {"pass_rate": 0.85, "passed": 6, "failed": 1, "total": 7, "time_seconds": 42.5, "tokens": 3800,
       "tool_calls": 18, "errors": 0},
     "expectations": [{"text": "has a title", "passed": true, "evidence": "seen"},
       {"text": "has a chart", "passed": false, "evidence": "none"}], "notes": ["Used 2023 data"]},
    {"eval_id": 2, "configuration": "with_skill", "run_number": 1, "result": {"passed": 3, "total": 3}},
    {"eval_id": 1, "eval_name": "Ocean", "configuration": "without_skill", "run_number": 1,
     "result": {"pass_rate": 0.1}},
    {"eval_id": 2, "configuration": "without_skill", "run_number": 1, "result": {"passed": 1, "total": 3}}],
  "run_summary": {"with_skill": {"pass_rate": {"mean": 0.85, "stddev": 0.05}}, "delta": {"pass_rate": "+0.50"}},
  "notes": []})";

TEST(SkillCreatorBenchmark, ReadsTheDocumentedForm) {
  const Result<ImportedResults> results = FromBenchmark(kDocumentedBenchmark);
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->skill, "pdf");
  ASSERT_EQ(results->cases.size(), 2U);
  EXPECT_EQ(results->cases[0].id, "eval-1 Ocean");
  ASSERT_EQ(results->answers.size(), 4U);
  const ImportedAnswer& first = results->answers[0];
  EXPECT_EQ(first.model, "claude-sonnet-4-20250514");
  EXPECT_EQ(first.seconds, 42.5);
  ASSERT_EQ(first.checks.size(), 2U);
  EXPECT_EQ(first.checks[1].name, "has a chart");
  EXPECT_EQ(first.checks[1].outcome, Outcome::kFail);
  EXPECT_TRUE(AllPass(results->answers[1].checks));
  EXPECT_FALSE(AllPass(results->answers[2].checks));
  EXPECT_EQ(results->answers[2].arm, Arm::kBaseline);
}

TEST(SkillCreatorBenchmark, AShareOfTheExpectationsCanBeEnough) {
  ImportOptions half;
  half.pass_at = 0.5;
  const Result<ImportedResults> results = FromBenchmark(kDocumentedBenchmark, half);
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_THAT(results->notes, Contains(HasSubstr("at least 50 % of its expectations")));
}

TEST(SkillCreatorBenchmark, TellsThreeRunsFromOneListedTwice) {
  const auto run = [](int number, const char* arm) {
    return R"({"eval_id": 1, "configuration": ")" + std::string(arm) + R"(", "run_number": )" + std::to_string(number) +
           R"(, "result": {"passed": 1, "total": 1}})";
  };
  const Result<ImportedResults> results =
      FromBenchmark(R"({"runs": [)" + run(2, "with_skill") + "," + run(1, "with_skill") + "," + run(2, "with_skill") +
                    "," + run(1, "without_skill") + "," + run(2, "without_skill") + "]}");
  ASSERT_TRUE(results.ok());
  const Result<ImportedRun> arranged = ArrangeResults(*results, {});
  ASSERT_TRUE(arranged.ok()) << arranged.error().message;
  EXPECT_EQ(arranged->plan.rounds, 2);
  EXPECT_EQ(arranged->samples.size(), 4U);
  EXPECT_THAT(arranged->plan.imported->notes, Contains(HasSubstr("1 answer listed twice")));
}

TEST(SkillCreatorBenchmark, SurvivesWrongTypesEverywhere) {
  for (const char* text :
       {R"({"runs": {"a": 1}})", R"({"runs": 3, "run_summary": []})", R"({"runs": [], "run_summary": {}})",
        R"({"runs": [1, "x", null, [], {"configuration": 7, "result": {}}], "run_summary": 1})",
        R"({"runs": [{"eval_id": [], "configuration": "with_skill", "result": {"passed": "1", "total": {}}}]})",
        R"({"runs": [{"eval_id": 1, "configuration": "with_skill", "result": {"passed": 1e999, "total": 0}}]})",
        R"({"runs": [{"eval_id": 1, "configuration": "with_skill", "result": {"pass_rate": -3}}]})",
        R"({"metadata": 4, "runs": [{"configuration": "other", "result": {}}]})", "[]", "3", "null", R"({"runs":)"}) {
    const Result<ImportedResults> results = FromBenchmark(text);
    EXPECT_FALSE(results.ok()) << text;
    EXPECT_THAT(results.error().message, HasSubstr("benchmark.json")) << text;
  }
}

TEST(SkillCreatorBenchmark, SaysWhatIsMissing) {
  const Result<ImportedResults> ungraded =
      FromBenchmark(R"({"runs": [{"eval_id": 1, "configuration": "with_skill", "result": {"tokens": 1}}]})");
  ASSERT_FALSE(ungraded.ok());
  EXPECT_THAT(ungraded.error().message, HasSubstr("no answer is graded"));
  const Result<ImportedResults> other =
      FromBenchmark(R"({"runs": [{"eval_id": 1, "configuration": "version_a", "result": {"pass_rate": 1}}]})");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().message, HasSubstr("which of these labels are the arms: 'version_a'"));
}

TEST(SkillCreatorBenchmark, ReadsGradesWithoutTheLevelOfResult) {
  const Result<ImportedResults> results = FromBenchmark(
      R"({"runs": [{"eval_name": "pay", "configuration": "with_skill", "passed": 6, "total": 6, "time_seconds": 2}]})");
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->answers.at(0).seconds, 2.0);
  EXPECT_TRUE(AllPass(results->answers.at(0).checks));
}

TEST(SkillCreatorBenchmark, AnUngradedExpectationIsNoPass) {
  const Result<ImportedResults> results = FromBenchmark(
      R"({"runs": [{"eval_id": "a\u0007b", "configuration": "with_skill", "run_number": 99999999999999999999,
      "result": {"passed": 1, "total": 1, "time_seconds": 1e308}, "expectations": [{"text": 3, "passed": "yes"}]}]})");
  ASSERT_TRUE(results.ok());
  EXPECT_FALSE(AllPass(results->answers[0].checks));
  EXPECT_FALSE(results->answers[0].number.has_value());
}

TEST(SkillCreatorWorkspace, ReadsEveryIterationByItself) {
  TempFolder folder;
  const std::string pass = R"({"expectations": [{"text": "t", "passed": true, "evidence": "e"}],
    "summary": {"passed": 1, "failed": 0, "total": 1, "pass_rate": 1.0}})";
  const std::string fail = R"({"assertion_results": [{"text": "t", "passed": false, "evidence": "e"}]})";
  folder.Write("pdf-workspace/iteration-1/eval-a/with_skill/run-1/grading.json", pass);
  folder.Write("pdf-workspace/iteration-1/eval-a/with_skill/run-2/grading.json", pass);
  folder.Write("pdf-workspace/iteration-1/eval-a/without_skill/run-1/grading.json", fail);
  folder.Write("pdf-workspace/iteration-1/eval-a/eval_metadata.json", R"({"eval_id": 1, "prompt": "Fill it in."})");
  folder.Write("pdf-workspace/iteration-2/eval-a/with_skill/grading.json", fail);
  folder.Write("pdf-workspace/iteration-2/eval-a/with_skill/timing.json",
               R"({"total_tokens": 9, "duration_ms": 1500})");
  folder.Write("pdf-workspace/iteration-2/eval-a/old_skill/grading.json", pass);
  folder.Write("pdf-workspace/notes/grading.json", pass);
  const auto all = ReadResults({folder.path() / "pdf-workspace"}, {});
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 2U);
  EXPECT_EQ(all->at(0).skill, "pdf");
  EXPECT_EQ(all->at(0).answers.size(), 3U);
  EXPECT_EQ(all->at(0).cases.at(0).input, "Fill it in.");
  EXPECT_NE(all->at(0).sha256, all->at(1).sha256);
  EXPECT_EQ(all->at(1).answers.size(), 2U);
  EXPECT_EQ(all->at(1).answers.at(1).seconds, 1.5);
  EXPECT_EQ(all->at(1).answers.at(0).arm, Arm::kPrevious);
}

TEST(SkillCreatorWorkspace, SaysWhatItLooksFor) {
  TempFolder folder;
  const auto all = ReadResults({folder.path()}, {});
  ASSERT_FALSE(all.ok());
  EXPECT_THAT(all.error().message, AllOf(HasSubstr("EVAL/CONFIGURATION/"), HasSubstr("--with")));
}

}  // namespace
}  // namespace upskill
