// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "check/check.h"
#include "check/check_makers.h"
#include "skill/suite.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

// The result of the check with these members on a student's calls.
CheckResult ResultOf(const std::string& members, CheckedCalls calls) {
  const Result<Suite> suite =
      ParseSuite(R"([{"input": "i", "mode": "workspace", "checks": [{"type": "tool_call", )" + members + "}]}]", "t");
  EXPECT_TRUE(suite.ok()) << suite.error().message;
  const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
  EXPECT_TRUE(checks.ok()) << checks.error().message;
  EXPECT_EQ(checks->WhyNoneCanPass(), "");
  const CheckedWork work{{}, std::move(calls)};
  return checks->Run("Done.", nullptr, &work).at(0);
}

const std::vector<CheckedCall> kMade = {
    {"bash", R"({"command": "make test", "env": {"A": "1", "B": 2}})"},
    {"read_file", R"({"path": "a.txt"})"},
    {"bash", R"({"command": "ls", "time": 5.0})"},
};

TEST(ToolCallCheck, CountsCalls) {
  const auto outcome = [](const std::string& members) { return ResultOf(members, {kMade, {}}).outcome; };
  EXPECT_EQ(outcome(R"("tool": "bash")"), Outcome::kPass);
  EXPECT_EQ(outcome(R"("tool": "Bash")"), Outcome::kFail);
  EXPECT_EQ(outcome(R"("tool": ["Bash", "bash"], "minimum": 2, "maximum": 2)"), Outcome::kPass);
  EXPECT_EQ(outcome(R"("tool": "bash", "minimum": 3)"), Outcome::kFail);
  EXPECT_EQ(outcome(R"("tool": "bash", "maximum": 1)"), Outcome::kFail);
  EXPECT_EQ(outcome(R"("tool": "bash", "maximum": 0)"), Outcome::kFail);
  EXPECT_EQ(outcome(R"("tool": "grep", "maximum": 0)"), Outcome::kPass);
}

TEST(ToolCallCheck, LooksAtArguments) {
  const auto outcome = [](const std::string& condition) {
    return ResultOf(R"("tool": "bash", )" + condition, {kMade, {}}).outcome;
  };
  EXPECT_EQ(outcome(R"("arguments": {"command": "make test"})"), Outcome::kPass);
  EXPECT_EQ(outcome(R"("arguments": {"env": {"B": 2}})"), Outcome::kPass) << "members within members";
  EXPECT_EQ(outcome(R"("arguments": {"time": 5})"), Outcome::kPass) << "numbers by value";
  EXPECT_EQ(outcome(R"("arguments": {"command": "make"})"), Outcome::kFail);
  EXPECT_EQ(outcome(R"("arguments": {"env": {"B": 2, "C": 3}})"), Outcome::kFail);
  EXPECT_EQ(outcome(R"("arguments": {"command": "ls", "env": {}})"), Outcome::kFail) << "both in one call";
  EXPECT_EQ(outcome(R"("pattern": "make t?est")"), Outcome::kPass);
  EXPECT_EQ(outcome(R"("pattern": "rm -rf", "maximum": 0)"), Outcome::kPass);
  EXPECT_EQ(outcome(R"("pattern": "make", "minimum": 2)"), Outcome::kFail);
}

TEST(ToolCallCheck, SaysWhatWasCalled) {
  EXPECT_EQ(ResultOf(R"("tool": "grep")", {kMade, {}}).detail, "it was not called; the student called bash, read_file");
  EXPECT_EQ(ResultOf(R"("tool": "grep")", {}).detail, "no tool was called");
  const CheckResult few = ResultOf(R"("tool": "bash", "pattern": "make", "minimum": 2)", {kMade, {}});
  EXPECT_EQ(few.name, "tool_call bash matches \"make\", at least 2 times");
  EXPECT_EQ(few.detail, "called 2 times, 1 with such arguments");
}

TEST(ToolCallCheck, WhatWasNotStoredDecidesNothing) {
  const CheckedCalls cut = {{{"bash", "{\"command\": \"make te", true}}, {}};
  EXPECT_EQ(ResultOf(R"("tool": "bash")", cut).outcome, Outcome::kPass) << "it was called, with whatever arguments";
  EXPECT_EQ(ResultOf(R"("tool": "bash", "arguments": {"command": "ls"})", cut).outcome, Outcome::kSkip);
  EXPECT_EQ(ResultOf(R"("tool": "bash", "pattern": "make")", cut).outcome, Outcome::kPass);
  EXPECT_EQ(ResultOf(R"("tool": "bash", "pattern": "rm", "maximum": 0)", cut).outcome, Outcome::kSkip);
  const CheckedCalls unlisted = {{}, {{"bash", 3}}};
  EXPECT_EQ(ResultOf(R"("tool": "bash", "minimum": 3)", unlisted).outcome, Outcome::kPass);
  EXPECT_EQ(ResultOf(R"("tool": "bash", "pattern": "x")", unlisted).outcome, Outcome::kSkip);
  EXPECT_EQ(ResultOf(R"("tool": "bash", "pattern": "x", "minimum": 4)", unlisted).outcome, Outcome::kFail);
}

TEST(ToolCallCheck, ArgumentsThatAreNoJsonHaveNoMembers) {
  const CheckedCalls odd = {{{"bash", "ls -l"}, {"bash", "[1]"}}, {}};
  EXPECT_EQ(ResultOf(R"("tool": "bash", "arguments": {"a": 1})", odd).outcome, Outcome::kFail);
  EXPECT_EQ(ResultOf(R"("tool": "bash", "pattern": "^ls")", odd).outcome, Outcome::kPass);
}

TEST(ToolCallCheck, AnswersInWordsHaveNoCalls) {
  const Result<Suite> suite =
      ParseSuite(R"([{"input": "i", "checks": [{"type": "tool_call", "tool": "bash", "maximum": 0}]}])", "t");
  ASSERT_TRUE(suite.ok());
  const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
  ASSERT_TRUE(checks.ok());
  EXPECT_THAT(checks->WhyNoneCanPass(), HasSubstr("only students that work in a workspace call tools"));
  EXPECT_EQ(checks->Run("Done.").at(0).outcome, Outcome::kSkip);
}

TEST(ToolCallCheck, RefusesWhatItCannotMean) {
  const auto error = [](const std::string& members) {
    const Result<Suite> suite =
        ParseSuite(R"([{"input": "i", "checks": [{"type": "tool_call")" + members + "}]}]", "t");
    if (!suite) return suite.error().message;
    const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
    return checks.ok() ? std::string("none") : checks.error().message;
  };
  EXPECT_THAT(error(""), HasSubstr("tool_call needs a \"tool\""));
  EXPECT_THAT(error(R"(, "tool": 5)"), HasSubstr("tool_call needs a \"tool\""));
  EXPECT_THAT(error(R"(, "tool": [])"), HasSubstr("is empty"));
  EXPECT_THAT(error(R"(, "tool": "a", "minimum": 1.5)"), HasSubstr("\"minimum\" must be a whole number"));
  EXPECT_THAT(error(R"(, "tool": "a", "maximum": -1)"), HasSubstr("\"maximum\" must be a whole number"));
  EXPECT_THAT(error(R"(, "tool": "a", "minimum": 2, "maximum": 1)"), HasSubstr("is below"));
  EXPECT_THAT(error(R"(, "tool": "a", "minimum": 0)"), HasSubstr("any number of calls passes"));
  EXPECT_THAT(error(R"(, "tool": "a", "arguments": [1])"), HasSubstr("must be an object"));
  EXPECT_THAT(error(R"(, "tool": "a", "arguments": {}, "pattern": "x")"), HasSubstr("only one of"));
  EXPECT_THAT(error(R"(, "tool": "a", "pattern": "(")"), HasSubstr("regex"));
}

}  // namespace
}  // namespace upskill
