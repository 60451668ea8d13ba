// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "check/check.h"
#include "support/source_dir.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> WeaknessesOf(const std::string& text) {
  const Result<Suite> suite = ParseSuite(text, "t.json");
  EXPECT_TRUE(suite.ok()) << (suite ? "" : suite.error().message);
  if (!suite) return {};
  Result<std::vector<std::string>> weaknesses = FindSuiteWeaknesses(*suite);
  EXPECT_TRUE(weaknesses.ok());
  return weaknesses ? *weaknesses : std::vector<std::string>{};
}

TEST(SuiteWeaknesses, NoneInAValidCase) {
  EXPECT_THAT(WeaknessesOf(R"([{"id": "a", "input": "Which line?", "expected": {"contains": "edition = 5"},
                              "reference": "Add edition = 5."}])"),
              IsEmpty());
}

TEST(SuiteWeaknesses, ReferenceThatFails) {
  EXPECT_THAT(
      WeaknessesOf(R"([{"id": "a", "input": "Which line?", "expected": {"contains": ["edition = 5", "Add"]},
                              "reference": "Add edition=5."}])"),
      ElementsAre("t.json:1: case 1 (\"a\"): the reference fails the check contains \"edition = 5\": not found"));
}

TEST(SuiteWeaknesses, TrivialAnswersThatPass) {
  EXPECT_THAT(
      WeaknessesOf(R"([{"id": "a", "input": "Do it", "checks": [{"type": "not_contains", "values": ["x9"]}]}])"),
      ElementsAre("t.json:1: case 1 (\"a\"): an empty answer passes",
                  "t.json:1: case 1 (\"a\"): an echo of the input passes",
                  AllOf(StartsWith("t.json:1: case 1 (\"a\"): a plain refusal passes"), HasSubstr("I'm sorry"))));
  EXPECT_THAT(WeaknessesOf(R"([{"input": "Do it", "checks": [{"type": "regex", "pattern": "(?i)can't"}]}])"),
              ElementsAre(HasSubstr("a plain refusal passes")));
}

TEST(SuiteWeaknesses, ExpectedStringInTheInput) {
  EXPECT_THAT(WeaknessesOf(R"([{"input": "Is it sm_90a?", "expected": {"contains": ["SM_90A", "yes9"]}}])"),
              ElementsAre("t.json:1: case 1: the expected string \"SM_90A\" occurs in the input"));
  EXPECT_THAT(WeaknessesOf(R"([{"input": "A or B?", "checks": [{"type": "equals", "text": "B"}]}])"), IsEmpty());
  EXPECT_THAT(WeaknessesOf(R"([{"input": "mend pybind11", "expected": {"contains": "x9"},
                              "checks": [{"type": "not_contains", "text": "pybind11"}]}])"),
              IsEmpty());
}

TEST(SuiteWeaknesses, EchoIncludesTheFiles) {
  EXPECT_THAT(WeaknessesOf(R"([{"input": "Mend a.py", "context": {"files": {"a.py": "answer9"}}, "output_file": "a.py",
                              "expected": {"contains": "answer9"}}])"),
              ElementsAre("t.json:1: case 1: an echo of the input passes"));
}

TEST(SuiteWeaknesses, CasesWithTheSameInput) {
  EXPECT_THAT(WeaknessesOf(R"([{"id": "a", "input": "Which?", "expected": {"contains": "x9"}},
                               {"id": "b", "input": "What?", "expected": {"contains": "x9"}},
                               {"id": "c", "input": " Which?\n", "expected": {"contains": "y9"}}])"),
              ElementsAre("t.json:3: case 3 (\"c\"): has the same input as case 1 (\"a\")"));
  EXPECT_THAT(WeaknessesOf(R"([{"input": "Mend", "context": {"files": {"f": "1"}}, "expected": {"contains": "x9"}},
                               {"input": "Mend", "context": {"files": {"f": "2"}}, "expected": {"contains": "x9"}}])"),
              IsEmpty());
}

TEST(SuiteWeaknesses, ACheckThatCannotBeMadeIsAnError) {
  const Result<Suite> suite =
      ParseSuite(R"([{"id": "a", "input": "i", "checks": [{"type": "regex", "pattern": "("}]}])", "t");
  ASSERT_TRUE(suite.ok());
  const Result<std::vector<std::string>> weaknesses = FindSuiteWeaknesses(*suite);
  ASSERT_FALSE(weaknesses.ok());
  EXPECT_THAT(weaknesses.error().message, StartsWith("t:1: case 1 (\"a\"): regex"));
}

TEST(SuiteWeaknesses, ExampleHasNone) {
  const Result<Suite> suite = LoadSuiteOfSkill(SourceDir() / "examples/skills/kernel-builder-cuda-kernels");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  const Result<std::vector<std::string>> weaknesses = FindSuiteWeaknesses(*suite);
  ASSERT_TRUE(weaknesses.ok()) << weaknesses.error().message;
  EXPECT_THAT(*weaknesses, IsEmpty());
  for (const Case& test_case : suite->cases) {
    const Result<CaseChecks> checks = CaseChecks::Make(test_case);
    ASSERT_TRUE(checks.ok());
    ASSERT_FALSE(test_case.reference.empty()) << test_case.id;
    EXPECT_TRUE(AllPass(checks->Run(test_case.reference))) << test_case.id;
  }
}

TEST(LeaveOutCasesThatCannotPass, NamesTheCaseAndTheCheck) {
  Result<Suite> suite = ParseSuite(R"([
    {"id": "a", "input": "1", "checks": [{"type": "contains", "values": "x"}]},
    {"id": "b", "input": "2", "checks": [{"type": "contains", "values": "x"}, {"type": "tool_call", "tool": "bash"}]},
    {"id": "c", "input": "3", "checks": [{"type": "any", "checks": [{"type": "tool_call", "tool": "bash"}, {"type": "regex", "pattern": "y"}]}]},
    {"id": "d", "input": "4", "checks": [{"type": "all", "checks": [{"type": "contains", "values": "x"}, {"type": "tool_call", "tool": "bash"}]}]}
  ])",
                                   "s.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  const Result<std::vector<std::string>> left_out = LeaveOutCasesThatCannotPass(*suite);
  ASSERT_TRUE(left_out.ok());
  EXPECT_THAT(
      *left_out,
      ElementsAre(
          "s.json:3: case 2 (\"b\") is left out: its check tool_call can't run: only students that work in a workspace "
          "call tools (\"mode\": \"workspace\", or --mode workspace)",
          "s.json:5: case 4 (\"d\") is left out: its check all of 2 checks: tool_call can't run: only students that "
          "work "
          "in a workspace call tools (\"mode\": \"workspace\", or --mode workspace)"));
  ASSERT_EQ(suite->cases.size(), 2U);
  EXPECT_EQ(suite->cases[1].id, "c");
}

TEST(LeaveOutCasesThatCannotPass, NoneLeftIsAnError) {
  Result<Suite> suite =
      ParseSuite(R"([{"id": "b", "input": "2", "checks": [{"type": "tool_call", "tool": "bash"}]}])", "s.json");
  ASSERT_TRUE(suite.ok());
  const Result<std::vector<std::string>> left_out = LeaveOutCasesThatCannotPass(*suite);
  ASSERT_FALSE(left_out.ok());
  EXPECT_EQ(left_out.error().message,
            "s.json:1: case 1 (\"b\"): no case can be run, because its check tool_call can't run: only students "
            "that work in a workspace call tools (\"mode\": \"workspace\", or --mode workspace)");
}

TEST(LeaveOutCasesThatCannotPass, CallsOfToolsNeedAWorkspace) {
  const Result<Suite> suite = ParseSuite(R"([
    {"id": "a", "input": "1", "mode": "workspace", "checks": [{"type": "tool_call", "tool": "bash"}]},
    {"id": "b", "input": "2", "checks": [{"type": "tool_call", "tool": "bash"}]}])",
                                         "s.json");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  const auto kept_with = [&](CaseMode mode) {
    Suite tried = *suite;
    return LeaveOutCasesThatCannotPass(tried, DefaultSandbox(), false, mode).ok() ? tried.cases.size() : 0;
  };
  EXPECT_EQ(kept_with(CaseMode::kUnset), 1U);
  EXPECT_EQ(kept_with(CaseMode::kWorkspace), 2U);
  EXPECT_EQ(kept_with(CaseMode::kAnswer), 0U);
  Suite tried = *suite;
  ASSERT_TRUE(LeaveOutCasesThatCannotPass(tried, DefaultSandbox(), false, CaseMode::kWorkspace).ok());
  EXPECT_EQ(tried.cases[1].mode, CaseMode::kUnset) << "the suite stays as it is written";
}

TEST(FindCaseWeaknesses, LookIntoGroups) {
  Case test_case;
  test_case.input = "Say blue";
  CheckSpec group("any", {});
  group.members = {{"contains", {"blue"}}, {"regex", {}, "^x"}};
  test_case.checks = {group};
  EXPECT_THAT(*FindCaseWeaknesses(test_case), Contains("the expected string \"blue\" occurs in the input"));
}

}  // namespace
}  // namespace upskill
