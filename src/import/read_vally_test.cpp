// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "check/check.h"
#include "import/read_results.h"
#include "import/readers.h"
#include "util/json.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// A line of results.jsonl as `vally experiment run` writes it.
Json Trial(const std::string& stimulus, bool passed) {
  return {
      {"type", "trial-result"},
      {"variant", "baseline"},
      {"stimulus", stimulus},
      {"status", "success"},
      {"experiment", {{"evalFile", "tests/dotnet/setup-sdk/eval.yaml"}}},
      {"durationMs", 4000},
      {"gradeResult", {{"name", "objective"}, {"passed", passed}, {"score", passed ? 1.0 : 0.4}, {"evidence", "why"}}},
      {"trajectory",
       {{"metadata", {{"model", "claude-opus-4.6"}}},
        {"metrics", {{"wallTimeMs", 2000}, {"tokenUsage", {{"inputTokens", 12}, {"outputTokens", 3}}}}},
        {"stimulus", {{"name", stimulus}, {"prompt", "Set it up"}}}}}};
}

std::string Line(Json trial, const char* variant) {
  if (variant == nullptr) {
    trial.erase("variant");
  } else {
    trial["variant"] = variant;
  }
  return DumpJson(trial) + "\n";
}

TEST(Vally, ReadsTrialsOfBothVariants) {
  const Result<ImportedResults> results =
      ReadResultsText(Line(Trial("one", false), "baseline") + Line(Trial("one", true), "skilled") +
                          R"({"type":"run-summary","passed":true})",
                      "results.jsonl", {});
  ASSERT_TRUE(results.ok()) << results.error().message;
  EXPECT_EQ(results->format, "Vally");
  EXPECT_EQ(results->skill, "setup-sdk");
  ASSERT_EQ(results->answers.size(), 2U);
  EXPECT_EQ(results->answers[0].arm, Arm::kBaseline);
  EXPECT_EQ(results->answers[0].case_id, "setup-sdk: one");
  EXPECT_FALSE(AllPass(results->answers[0].checks));
  EXPECT_EQ(results->answers[0].checks[0].detail, "why");
  EXPECT_TRUE(AllPass(results->answers[1].checks));
  EXPECT_EQ(results->answers[1].model, "claude-opus-4.6");
  EXPECT_DOUBLE_EQ(results->answers[1].seconds, 2.0);
  EXPECT_EQ(results->answers[1].usage.input, 12);
  ASSERT_EQ(results->cases.size(), 1U);
  EXPECT_EQ(results->cases[0].input, "Set it up");
}

TEST(Vally, AFolderOfVariantsIsOneEvaluation) {
  const TempFolder folder;
  folder.Write("run/baseline/results.jsonl", Line(Trial("one", false), nullptr));
  folder.Write("run/skilled/results.jsonl", Line(Trial("one", true), nullptr));
  const auto all = ReadResults({folder.path() / "run"}, {});
  ASSERT_TRUE(all.ok()) << all.error().message;
  ASSERT_EQ(all->size(), 1U);
  ASSERT_EQ(all->front().answers.size(), 2U);
  EXPECT_EQ(all->front().answers[1].arm, Arm::kSkill);
  EXPECT_EQ(all->front().cases.size(), 1U);
}

TEST(Vally, ErrorsAreNoFailures) {
  Json timeout = Trial("one", false);
  timeout["status"] = "error";
  timeout["error"] = {{"message", "agent_timeout"}};
  Json ungraded = Trial("two", true);
  ungraded["gradeResult"] = nullptr;
  Json scored = Trial("three", true);
  scored["gradeResult"] = {{"score", 0.8}};
  ImportOptions options;
  options.pass_at = 0.8;
  const Result<ImportedResults> results =
      ReadResultsText(Line(timeout, "skilled") + Line(ungraded, "skilled") + "damaged {\n" + Line(scored, "skilled") +
                          Line(scored, "plugin"),
                      "results.jsonl", options);
  ASSERT_TRUE(results.ok()) << results.error().message;
  ASSERT_EQ(results->answers.size(), 2U);
  EXPECT_EQ(results->answers[0].error, "agent_timeout");
  EXPECT_TRUE(AllPass(results->answers[1].checks));
  EXPECT_THAT(results->notes, Contains("1 trial without a grade left out."));
  EXPECT_THAT(results->notes, Contains(HasSubstr("1 trial of other variants")));
  EXPECT_THAT(results->notes, Contains("1 line couldn't be read."));
}

TEST(Vally, NamesTheVariantsIfNoneIsAnArm) {
  const Result<ImportedResults> results = ReadResultsText(Line(Trial("one", true), "opus"), "results.jsonl", {});
  ASSERT_FALSE(results.ok());
  EXPECT_THAT(results.error().message, HasSubstr("'opus'"));
}

}  // namespace
}  // namespace upskill
