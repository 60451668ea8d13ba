// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <gmock/gmock.h>

#include <string>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

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

TEST(MakeCheck, UnknownTypes) {
  for (const char* type : {"", "Contains", "not-contains", "judge"}) {
    LiteralSearch strings;
    const Result<std::unique_ptr<Check>> check = MakeCheck({type, {"a"}, "a"}, strings);
    ASSERT_FALSE(check.ok());
    EXPECT_THAT(check.error().message, StartsWith("unknown check type"));
  }
}

TEST(MakeCheck, KnowsEveryTypeInSuites) {
  const Result<Suite> suite = ParseSuite(R"([{"input": "i", "checks": [
    {"type": "contains", "values": "a"}, {"type": "not-contains", "values": "a"}, {"type": "any-of", "values": "a"},
    {"type": "equals", "values": "a"}, {"type": "regex", "pattern": "a"}]}])",
                                         "t");
  ASSERT_TRUE(suite.ok());
  const Result<CaseChecks> checks = CaseChecks::Make(suite->cases[0]);
  ASSERT_TRUE(checks.ok());
  EXPECT_EQ(checks->size(), 5U);
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
