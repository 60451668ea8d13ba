// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "import/read_results.h"
#include "import/readers.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

Result<ImportedResults> FromPluginEval(const std::string& text, const ImportOptions& options = {}) {
  return ReadResultsText(text, "aggregate-result.json", options);
}

constexpr const char* kAggregateResult = R"({"schemaVersion": 1, "claudeVersion": "2.1.296", "plugin": "plugins/greet/",
  "model": "sonnet", "costUsd": 0.5, "durationSeconds": 60,
  "aggregates": {"casesTotal": 1, "casesPassed": 0, "overallScore": 0.75, "meanDelta": 0.25},
  "cases": [{"name": "hello", "aggregates": {"score": 0.75, "delta": 0.25}, "arms": {
    "with": [{"score": 1, "costUsd": 0.1, "turns": 4, "durationSeconds": 9, "graders": [
        {"name": "greets", "type": "regex", "passed": true, "score": 1}], "tracePath": "/tmp/x/trace.jsonl"},
      {"score": 0.5, "costUsd": 0.1, "durationSeconds": 8, "graders": [
        {"name": "greets", "type": "regex", "passed": true, "score": 1},
        {"name": "tone", "type": "llm", "passed": false, "score": 0, "votes": [true, false, false]}]}],
    "without": [{"score": 0.5}, {"score": 0, "error": "exit 1: Credit balance is too low"}]}}]})";

TEST(PluginEval, ReadsEachRunAsAnAnswer) {
  const Result<ImportedResults> results = FromPluginEval(kAggregateResult);
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->skill, "greet");
  ASSERT_EQ(results->answers.size(), 4U);  // the votes of a judge are no answers
  EXPECT_TRUE(AllPass(results->answers[0].checks));
  EXPECT_EQ(results->answers[0].cost_usd, 0.1);
  EXPECT_FALSE(AllPass(results->answers[1].checks));
  EXPECT_THAT(results->answers[1].checks.at(0).detail, HasSubstr("failed: tone"));
  EXPECT_EQ(results->answers[0].model, "sonnet");
  EXPECT_THAT(results->answers[3].error, HasSubstr("Credit balance"));
  EXPECT_TRUE(results->answers[3].checks.empty()) << "an error is never a failed answer";
}

TEST(PluginEval, AnswersWithoutThePluginOrItsGradersDontCount) {
  const std::string text = R"({"schemaVersion": 1, "partial": true,
    "suite": {"modelOverride": "claude-9", "plugins": [{"name": "greet", "problem": "will_not_load"}]},
    "cases": [{"name": "hello", "promptMarkdown": "Say *hi*", "arms": {
      "with": [{"score": 1}], "without": [{"score": 0}, {"score": 0, "skippedPaidGraders": true}]}}]})";
  const Result<ImportedResults> results = FromPluginEval(text);
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->skill, "greet");
  EXPECT_EQ(results->cases.at(0).input, "Say *hi*");
  ASSERT_EQ(results->answers.size(), 3U);
  EXPECT_EQ(results->answers[0].error, "will_not_load");
  EXPECT_EQ(results->answers[1].error, "");
  EXPECT_NE(results->answers[2].error, "");
  EXPECT_EQ(results->answers[0].model, "claude-9");
  EXPECT_THAT(results->notes, Contains(HasSubstr("will_not_load")));
  EXPECT_THAT(results->notes, Contains(HasSubstr("ended early")));
}

TEST(PluginEval, OtherThresholdsPassOtherAnswers) {
  ImportOptions half;
  half.pass_at = 0.5;
  const Result<ImportedResults> results = FromPluginEval(kAggregateResult, half);
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(AllPass(results->answers[1].checks));
  EXPECT_TRUE(AllPass(results->answers[2].checks));
  EXPECT_THAT(results->notes, Contains(HasSubstr("(--pass-at)")));
}

TEST(PluginEval, OtherArmsAreNamed) {
  const Result<ImportedResults> results =
      FromPluginEval(R"({"cases": [{"name": "a", "arms": {"treatment": [{"score": 1}], "control": []}}]})");
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("'treatment', 'control'"));
}

TEST(PluginEval, SurvivesWrongTypes) {
  for (const char* text : {R"({"cases": [{"arms": {}}]})", R"({"cases": [{"arms": {"with": 3, "without": {}}}]})",
                           R"({"cases": [{"arms": {"with": [1, null, {"score": "1"}, {"score": -1}]}}, 5]})"}) {
    const Result<ImportedResults> results = FromPluginEval(text);
    EXPECT_FALSE(results.ok()) << text;
  }
}

}  // namespace
}  // namespace upskill
