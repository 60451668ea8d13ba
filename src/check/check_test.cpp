// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <gmock/gmock.h>

#include <string>

#include "skill/check_types.h"
#include "support/check_cases.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Case MakeCase(std::vector<CheckSpec> checks, std::string output_file = "") {
  Case test_case;
  test_case.id = "c";
  test_case.input = "i";
  test_case.checks = std::move(checks);
  test_case.output_file = std::move(output_file);
  return test_case;
}

std::vector<Outcome> OutcomesOf(const Case& test_case, std::string_view answer) {
  const Result<CaseChecks> checks = CaseChecks::Make(test_case);
  EXPECT_TRUE(checks.ok());
  std::vector<Outcome> outcomes;
  if (!checks) return outcomes;
  for (const CheckResult& result : checks->Run(answer)) outcomes.push_back(result.outcome);
  return outcomes;
}

TEST(Outcome, NamesRoundTrip) {
  EXPECT_STREQ(OutcomeName(Outcome::kPass), "pass");
  EXPECT_STREQ(OutcomeName(Outcome::kFail), "fail");
  EXPECT_STREQ(OutcomeName(Outcome::kSkip), "skip");
  for (const Outcome outcome : {Outcome::kPass, Outcome::kFail, Outcome::kSkip}) {
    EXPECT_EQ(*OutcomeFromName(OutcomeName(outcome)), outcome);
  }
  for (const char* name : {"", "Pass", "error", "pass "}) EXPECT_FALSE(OutcomeFromName(name).ok()) << name;
}

TEST(MakeCheck, ChecksThatCannotRunAreSkipped) {
  const Result<Suite> suite = ParseSuite(R"([{"input": "i", "checks": [
    {"type": "contains", "values": "a"}, {"type": "nvcc"}, {"type": "containz", "values": "a"}],
    "validator": "toml_ok"}])",
                                         "t");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(
      suite->warnings,
      ElementsAre(
          HasSubstr("\"checks\" entry 2: the check \"nvcc\" is skipped: use cuda_compile"),
          HasSubstr("unknown check type \"containz\" is skipped; did you mean \"contains\"? (upskill help checks)"),
          HasSubstr("\"validator\" is skipped: the validator toml_ok is a function of another tool")));
  const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
  ASSERT_TRUE(checks.ok());
  EXPECT_EQ(checks->WhyNoneCanPass(), "nvcc can't run: use cuda_compile");
  const std::vector<CheckResult> results = checks->Run("a");
  EXPECT_THAT(OutcomesOf(suite->cases[0], "a"),
              ElementsAre(Outcome::kPass, Outcome::kSkip, Outcome::kSkip, Outcome::kSkip));
  EXPECT_EQ(results[1].name, "nvcc");
  EXPECT_EQ(results[1].detail, "use cuda_compile");
  EXPECT_EQ(SuiteToJson(*suite), suite->document);
}

TEST(MakeCheck, KnowsEveryTypeInSuites) {
  const Result<Suite> suite = ParseSuite(R"([{"input": "i", "checks": [
    {"type": "contains", "values": "a"}, {"type": "not-contains", "values": "a"}, {"type": "any-of", "values": "a"},
    {"type": "in_order", "values": ["a", "b"]}, {"type": "equals", "values": "a"}, {"type": "regex", "pattern": "a"},
    {"type": "number", "value": 1}, {"type": "json_schema", "schema": {}}, {"type": "json_value", "at": "a"},
    {"type": "toml_value", "at": "a"}, {"type": "yaml_value", "at": "a"}, {"type": "file_exists", "path": "a.txt"},
    {"type": "file_contains", "path": "a.txt", "values": "a"}, {"type": "file_equals", "path": "a.txt", "text": "a"},
    {"type": "command", "command": "true"}, {"type": "cuda_compile"}, {"type": "cuda-bindings"},
    {"type": "cuda-run"},
    {"type": "all", "checks": [{"type": "number", "value": 1}]}, {"type": "any", "checks": [{"type": "number", "value": 1}]},
    {"type": "at-least", "count": 1, "checks": [{"type": "number", "value": 1}]}, {"type": "kernel-builder"},
    {"type": "not-regex", "pattern": "a"}, {"type": "judge", "rubric": "a"}, {"type": "activates"},
    {"type": "tool-call", "tool": "bash"}]}])",
                                         "t");
  ASSERT_TRUE(suite.ok()) << suite.error().message;
  EXPECT_THAT(suite->warnings, IsEmpty());
  const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
  ASSERT_TRUE(checks.ok()) << checks.error().message;
  EXPECT_EQ(checks->size(), kCheckTypes.size());
}

TEST(CaseChecks, OneResultPerCheckInOrder) {
  const Case test_case =
      MakeCase({{"contains", {"a"}, ""}, {"regex", {}, "^b"}, {"not_contains", {"c"}, ""}, {"contains", {"z"}, ""}});
  EXPECT_THAT(OutcomesOf(test_case, "a\nb"),
              ElementsAre(Outcome::kPass, Outcome::kFail, Outcome::kPass, Outcome::kFail));
}

TEST(CaseChecks, ErrorsNameTheCase) {
  const Result<CaseChecks> none = CaseChecks::Make(MakeCase({}));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().message, "case \"c\": no checks");
  const Result<CaseChecks> bad = CaseChecks::Make(MakeCase({{"contains", {"a"}, ""}, {"regex", {}, "("}}));
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, HasSubstr("case \"c\": regex \"(\": missing )"));
  const Result<CaseChecks> behind = CaseChecks::Make(MakeCase({{"regex", {}, "(?<=a)b"}}));
  ASSERT_FALSE(behind.ok());
  EXPECT_THAT(behind.error().message, HasSubstr("; patterns are RE2's, which has no look-ahead and no look-behind:"));
}

TEST(CaseChecks, LimitWhatACaseChecks) {
  const auto error_of = [](std::vector<CheckSpec> checks) {
    const Result<CaseChecks> made = CaseChecks::Make(MakeCase(std::move(checks)));
    return made ? "" : made.error().message;
  };
  std::vector<CheckSpec> checks(20'000, CheckSpec{"contains", {"a"}, ""});
  EXPECT_EQ(error_of(checks), "");
  checks.push_back(checks.front());
  EXPECT_THAT(error_of(checks), HasSubstr("case \"c\": more than 20,000 checks, the maximum for a case"));
  EXPECT_THAT(error_of({{"any_of", std::vector<std::string>(20'001, "a"), ""}}), HasSubstr("more than 20,000 strings"));
  EXPECT_THAT(error_of({{"any_of", std::vector<std::string>(70, std::string(16'000, 'a')), ""}}),
              HasSubstr("more than 1,048,576 bytes of strings"));
  EXPECT_THAT(error_of(std::vector<CheckSpec>(501, CheckSpec{"regex", {}, "a"})),
              HasSubstr("more than 500 regex checks"));
}

TEST(CaseChecks, UseTheOutputFile) {
  const Case test_case = MakeCase({{"equals", {"a = 1"}, ""}, {"not_contains", {"explain"}, ""}}, "x.toml");
  EXPECT_THAT(OutcomesOf(test_case, "I explain:\n```toml x.toml\na = 1\n```\nI explain more."),
              ElementsAre(Outcome::kPass, Outcome::kPass));
  EXPECT_THAT(OutcomesOf(test_case, "a = 1"), ElementsAre(Outcome::kPass, Outcome::kPass));
  EXPECT_THAT(OutcomesOf(test_case, ""), ElementsAre(Outcome::kFail, Outcome::kPass));
}

TEST(CaseChecks, ChecksOfAFile) {
  Case test_case = MakeCase({SpecFrom(R"({"type": "file_exists", "path": "./a/b.toml"})"),
                             SpecFrom(R"({"type": "file_contains", "path": "a/b.toml", "values": ["X = 1"]})"),
                             SpecFrom(R"({"type": "file_equals", "path": "a/b.toml", "text": "x = 1"})"),
                             SpecFrom(R"({"type": "not_contains", "file": "a/b.toml", "values": ["y"]})"),
                             SpecFrom(R"({"type": "contains", "values": ["y"]})")});
  EXPECT_THAT(OutcomesOf(test_case, "y\n```toml a/b.toml\nx = 1\n```\n"), testing::Each(Outcome::kPass));
  const Outcome fail = Outcome::kFail;
  EXPECT_THAT(OutcomesOf(test_case, "y\n```toml b.toml\nx = 1\n```\n"),
              ElementsAre(fail, fail, fail, fail, Outcome::kPass));
  const std::vector<CheckResult> results = CaseChecks::Make(test_case)->Run("y");
  EXPECT_EQ(results[0].name, "file_exists a/b.toml");
  EXPECT_EQ(results[0].detail, "the answer has no file a/b.toml");
  EXPECT_EQ(results[1].name, "file_contains a/b.toml \"X = 1\"");
  EXPECT_EQ(CaseChecks::Make(test_case)->Run("```a/b.toml\ny = 2\n```\n")[2].detail, "it is \"y = 2\"");
  test_case.files = {{"a/b.toml", "x = 1\xFF"}};
  EXPECT_THAT(OutcomesOf(test_case, "y"),
              ElementsAre(Outcome::kPass, Outcome::kPass, fail, Outcome::kPass, Outcome::kPass))
      << "a file of the case is there from the beginning";
}

TEST(CaseChecks, AnAnswerThatDoesNotNameItsBlock) {
  Case test_case = MakeCase({SpecFrom(R"({"type": "contains", "file": "a.toml", "values": ["x = 2"]})")});
  test_case.files = {{"a.toml", "x = 1"}};
  EXPECT_THAT(OutcomesOf(test_case, "Here:\n```toml\nx = 2\n```\n"), ElementsAre(Outcome::kPass));
  EXPECT_EQ(CaseChecks::Make(test_case)->Run("```sh\nx = 2\n```\n")[0].detail,
            "not found; the answer has no block named a.toml, so the case's own file was checked");
  EXPECT_EQ(CaseChecks::Make(test_case)->Run("```toml\nx = 3\n```\n")[0].detail, "not found");
}

TEST(CaseChecks, TheOutputFileIsAFileToo) {
  const Case test_case = MakeCase({SpecFrom(R"({"type": "file_exists", "path": "x.toml"})")}, "x.toml");
  EXPECT_THAT(OutcomesOf(test_case, "a = 1"), ElementsAre(Outcome::kPass)) << "the whole answer is its content";
  EXPECT_THAT(OutcomesOf(test_case, " \n"), ElementsAre(Outcome::kFail));
}

TEST(CaseChecks, LimitTheChecksThatSearchOneByOne) {
  const auto error_of = [](std::vector<CheckSpec> checks) {
    CheckSpec group("all", {});
    group.members = std::move(checks);
    const Result<CaseChecks> made = CaseChecks::Make(MakeCase({group}));
    return made ? "" : made.error().message;
  };
  const CheckSpec number = SpecFrom(R"({"type": "number", "value": 1})");
  const CheckSpec value = SpecFrom(R"({"type": "json_value", "at": "a"})");
  EXPECT_EQ(error_of(std::vector<CheckSpec>(500, number)), "");
  EXPECT_THAT(error_of(std::vector<CheckSpec>(501, number)), HasSubstr("more than 500 regex checks, numbers and"));
  EXPECT_THAT(error_of({{"in_order", std::vector<std::string>(501, "a")}}), HasSubstr("more than 500 regex"));
  EXPECT_EQ(error_of(std::vector<CheckSpec>(100, value)), "");
  EXPECT_THAT(error_of(std::vector<CheckSpec>(101, value)),
              HasSubstr("more than 100 checks of JSON, TOML, YAML, projects or"));
}

TEST(CaseChecks, ReasoningInFrontOfTheAnswerIsNotJudged) {
  const Case test_case = MakeCase({{"contains", {"teal"}}, SpecFrom(R"({"type": "equals", "text": "red"})")});
  EXPECT_THAT(OutcomesOf(test_case, "<think>teal? no.</think>\nred"), ElementsAre(Outcome::kFail, Outcome::kPass));
}

TEST(AllPass, NeitherASkipNorNoCheckPasses) {
  const CheckResult pass{"p", Outcome::kPass, ""};
  EXPECT_TRUE(AllPass({pass}));
  EXPECT_TRUE(AllPass({pass, pass}));
  EXPECT_FALSE(AllPass({pass, {"f", Outcome::kFail, "d"}}));
  EXPECT_FALSE(AllPass({{"s", Outcome::kSkip, "no tool"}, pass}));
  EXPECT_FALSE(AllPass({}));
}

}  // namespace
}  // namespace upskill
