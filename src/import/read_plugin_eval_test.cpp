// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "import/read_results.h"
#include "import/readers.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;

Result<ImportedResults> FromPluginEval(const std::string& text, const ImportOptions& options = {}) {
  return ReadResultsText(text, "aggregate-result.json", options);
}

// As Claude Code 2.1.332 writes it, shortened.
constexpr const char* kAggregateResult = R"({"schemaVersion": 1, "claudeVersion": "2.1.332",
  "startedAt": "2026-11-30T09:00:00.000Z", "durationSeconds": 60, "costUsd": 0.5, "partial": false,
  "suite": {"root": "/plugins/greet", "ablation": "with-without", "threshold": 0.7, "modelOverride": "sonnet",
    "pluginId": "greet@market", "plugins": [{"name": "greet", "path": "/plugins/greet", "version": "0.1.0",
      "problem": "identity_unverified"}]},
  "cases": [{"name": "hello", "dir": "evals/hello", "source": "prose", "promptMarkdown": "Say *hi*", "model": "haiku",
    "graders": [{"name": "fired", "type": "tool_used", "weight": 1, "config": {"tool": "Skill", "min": 1}}], "arms": {
    "with": [{"score": 1, "passed": true, "turns": 4, "costUsd": 0.3, "judgeCostUsd": 0.1, "durationSeconds": 9,
        "error": null, "skippedPaidGraders": false, "graders": [
          {"name": "fired", "passed": false, "weight": 1, "withOnly": true, "scored": false},
          {"name": "greets", "passed": true, "weight": 1, "withOnly": false, "scored": true}]},
      {"score": 0.5, "passed": false, "costUsd": 0.1, "durationSeconds": 8, "error": null, "graders": [
          {"name": "fired", "passed": false, "weight": 1, "withOnly": true, "scored": false},
          {"name": "greets", "passed": true, "weight": 1, "withOnly": false, "scored": true},
          {"name": "tone", "passed": false, "weight": 1, "withOnly": false, "scored": true,
            "judgeVotes": [true, false, false]}]}],
    "without": [{"score": 0.5, "error": null}, {"score": 0, "error": "exit 1: Credit balance is too low"}]},
    "aggregates": {"score": 0.75, "passRate": 0.5, "scoreWithout": 0.25, "delta": 0.5}}]})";

TEST(PluginEval, ReadsEachRunAsAnAnswer) {
  const Result<ImportedResults> results = FromPluginEval(kAggregateResult);
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->skill, "greet");
  EXPECT_EQ(results->cases.at(0).input, "Say *hi*");
  ASSERT_EQ(results->answers.size(), 4U);  // the votes of a judge are no answers
  EXPECT_TRUE(AllPass(results->answers[0].checks)) << "a plugin whose identity isn't verified was loaded";
  EXPECT_NEAR(results->answers[0].cost_usd.value(), 0.2, 1e-9) << "without what its judge cost";
  EXPECT_FALSE(AllPass(results->answers[1].checks));
  EXPECT_THAT(results->answers[1].checks.at(0).detail, EndsWith("failed: tone")) << "not what the score leaves out";
  EXPECT_EQ(results->answers[0].model, "sonnet") << "--model overrides a case's own";
  EXPECT_THAT(results->answers[3].error, HasSubstr("Credit balance"));
  EXPECT_TRUE(results->answers[3].checks.empty()) << "an error is never a failed answer";
  EXPECT_THAT(results->notes, Contains(HasSubstr("at least 70 %")));
}

TEST(PluginEval, AnswersWithoutThePluginOrItsGradersDontCount) {
  const std::string text = R"({"schemaVersion": 1, "partial": true, "partialReason": "cost_ceiling",
    "suite": {"pluginId": "greet@market", "plugins": [{"name": "greet", "problem": "will_not_load"}]},
    "cases": [{"name": "hello", "model": "claude-9", "arms": {
      "with": [{"score": 1}], "without": [{"score": 0}, {"score": 0, "skippedPaidGraders": true},
        {"score": 0, "graders": [{"name": "kind", "passed": false, "scored": true,
          "explanation": "grader threw: judge call failed: API Error: 529"}]}]}}]})";
  const Result<ImportedResults> results = FromPluginEval(text);
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 4U);
  EXPECT_EQ(results->answers[0].error, "will_not_load");
  EXPECT_EQ(results->answers[1].error, "");
  EXPECT_NE(results->answers[2].error, "");
  EXPECT_THAT(results->answers[3].error, HasSubstr("529")) << "no judge, no verdict";
  EXPECT_EQ(results->answers[0].model, "claude-9");
  EXPECT_THAT(results->notes, Contains(HasSubstr("will_not_load")));
  EXPECT_THAT(results->notes, Contains(HasSubstr("ended early (cost_ceiling)")));
}

TEST(PluginEval, WhatHasNoScoreIsAnErrorAndNotLeftOut) {
  const Result<ImportedResults> results = FromPluginEval(R"({"cases": [{"name": "a", "arms": {
    "with": [{"score": 1}, {"score": null}, {"score": 1, "error": {"message": "boom"}}, {}], "without": [{"score": 0}]}}]})");
  ASSERT_TRUE(results.ok()) << results.error().message;
  std::size_t errors = 0;
  for (const ImportedAnswer& answer : results->answers) errors += answer.error.empty() ? 0 : 1;
  EXPECT_EQ(results->answers.size(), 5U);
  EXPECT_EQ(errors, 3U);
}

TEST(PluginEval, CasesOfOneNameAreTold) {
  const Result<ImportedResults> results = FromPluginEval(R"({"suite": {"pluginId": "greet@market"}, "cases": [
    {"name": "hello", "dir": "evals/a", "arms": {"with": [{"score": 1}]}},
    {"name": "hello", "dir": "evals/b", "arms": {"with": [
      {"score": 0, "aborted": {"server": "jira", "tool": "create", "reason": "no summary"}}]}}]})");
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->skill, "greet");
  EXPECT_EQ(results->answers.at(0).case_id, "hello");
  EXPECT_EQ(results->answers.at(1).case_id, "evals/b");
  EXPECT_THAT(results->answers[1].checks.at(0).detail, HasSubstr("jira"));
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
