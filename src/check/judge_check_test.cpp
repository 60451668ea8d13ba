// SPDX-License-Identifier: Apache-2.0
#include "check/judge_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "check/check.h"
#include "support/check_cases.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Case JudgedCase(const std::vector<std::string>& checks, const std::string& reference = "") {
  Case test_case;
  test_case.id = "c";
  test_case.reference = reference;
  for (const std::string& check : checks) test_case.checks.push_back(SpecFrom(check));
  return test_case;
}

CaseChecks ChecksFor(const Case& test_case) {
  Result<CaseChecks> checks = CaseChecks::Make(test_case, DefaultSandbox(), true);
  EXPECT_TRUE(checks.ok()) << (checks ? "" : checks.error().message);
  return std::move(checks).value();
}

std::vector<Outcome> Outcomes(const std::vector<CheckResult>& results) {
  std::vector<Outcome> outcomes;
  for (const CheckResult& result : results) outcomes.push_back(result.outcome);
  return outcomes;
}

constexpr const char* kPolite = R"({"type": "judge", "rubric": "The answer is polite."})";

TEST(JudgeCheck, WaitsForTheJudgeAndFollowsItsWord) {
  const CaseChecks checks = ChecksFor(JudgedCase({kPolite}));
  const std::vector<CheckResult> first = checks.Run("Dear Sir");
  EXPECT_THAT(Outcomes(first), ElementsAre(Outcome::kSkip));
  EXPECT_EQ(first[0].name, "judge \"The answer is polite.\"");
  const std::vector<AskedQuestion> asked = checks.QuestionsAbout("Dear Sir", first);
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].text, "Dear Sir");
  EXPECT_EQ(asked[0].question.rubric, "The answer is polite.");
  EXPECT_THAT(Outcomes(checks.RunJudged("Dear Sir", first, {Judgment{JudgeWord::kMet, "", {}}})),
              ElementsAre(Outcome::kPass));
  const auto failed = checks.RunJudged("Dear Sir", first, {Judgment{JudgeWord::kNotMet, "It is rude.", {"Dear"}}});
  EXPECT_THAT(Outcomes(failed), ElementsAre(Outcome::kFail));
  EXPECT_EQ(failed[0].detail, "It is rude.; quotes \"Dear\"");
}

TEST(JudgeCheck, IsNotAskedWhereItsWordDecidesNothing) {
  const CaseChecks checks = ChecksFor(JudgedCase({R"({"type": "contains", "values": "Sir"})", kPolite}));
  EXPECT_THAT(checks.QuestionsAbout("Hello", checks.Run("Hello")), IsEmpty());
  EXPECT_THAT(checks.QuestionsAbout("Dear Sir", checks.Run("Dear Sir")), SizeIs(1));

  const std::string any =
      std::string(R"({"type": "any", "checks": [{"type": "contains", "values": "Sir"}, )") + kPolite + "]}";
  const CaseChecks either = ChecksFor(JudgedCase({any}));
  EXPECT_THAT(either.QuestionsAbout("Dear Sir", either.Run("Dear Sir")), IsEmpty());
  const std::vector<CheckResult> open = either.Run("Hello");
  EXPECT_THAT(either.QuestionsAbout("Hello", open), SizeIs(1));
  EXPECT_THAT(Outcomes(either.RunJudged("Hello", open, {Judgment{JudgeWord::kMet, "", {}}})),
              ElementsAre(Outcome::kPass));
}

TEST(JudgeCheck, FailsWithoutBeingJudgedIfThereIsNothingToJudge) {
  const CaseChecks checks = ChecksFor(JudgedCase({kPolite}));
  EXPECT_THAT(Outcomes(checks.Run(" \n")), ElementsAre(Outcome::kFail));
  EXPECT_THAT(checks.Run(std::string(kMaxJudgedBytes + 1, 'x'))[0].detail, HasSubstr("too long to judge"));
  const CaseChecks of_file = ChecksFor(JudgedCase({R"({"type": "judge", "rubric": "r", "file": "a.md"})"}));
  EXPECT_EQ(of_file.Run("no file")[0].detail, "the answer has no file a.md");
  const std::string answer = "Here it is:\n```md a.md\ncontent\n```\n";
  const std::vector<AskedQuestion> asked = of_file.QuestionsAbout(answer, of_file.Run(answer));
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].text, "content\n");
}

TEST(JudgeCheck, ComparesWithTheReferenceInBothOrders) {
  const char* const pair = R"({"type": "judge", "rubric": "Explains it.", "against": "reference"})";
  const CaseChecks checks = ChecksFor(JudgedCase({pair}, "the reference"));
  const std::vector<CheckResult> open = checks.Run("an answer");
  ASSERT_THAT(checks.QuestionsAbout("an answer", open), SizeIs(2));
  const auto outcome = [&](JudgeWord first, JudgeWord second) {
    return checks.RunJudged("an answer", open, {Judgment{first, "why", {}}, Judgment{second, "why", {}}})[0].outcome;
  };
  EXPECT_EQ(outcome(JudgeWord::kAnswerBetter, JudgeWord::kAnswerBetter), Outcome::kPass);
  EXPECT_EQ(outcome(JudgeWord::kEqual, JudgeWord::kEqual), Outcome::kPass);
  EXPECT_EQ(checks
                .RunJudged("an answer", open,
                           {Judgment{JudgeWord::kEqual, "both explain it", {"answer"}},
                            Judgment{JudgeWord::kEqual, "", {}}})[0]
                .detail,
            "at least as good as the reference: both explain it; quotes \"answer\"");
  EXPECT_EQ(outcome(JudgeWord::kAnswerBetter, JudgeWord::kReferenceBetter), Outcome::kPass) << "it favours a place";
  EXPECT_EQ(outcome(JudgeWord::kEqual, JudgeWord::kReferenceBetter), Outcome::kFail);
  EXPECT_EQ(outcome(JudgeWord::kReferenceBetter, JudgeWord::kReferenceBetter), Outcome::kFail);
}

TEST(JudgeCheck, ComparesTheSameFileOfBoth) {
  const char* const pair = R"({"type": "judge", "rubric": "Is short.", "against": "reference", "file": "a.md"})";
  const CaseChecks checks = ChecksFor(JudgedCase({pair}, "Here:\n```md a.md\nthe reference\n```\n"));
  const std::string answer = "```md a.md\ncontent\n```\n";
  const std::vector<AskedQuestion> asked = checks.QuestionsAbout(answer, checks.Run(answer));
  ASSERT_THAT(asked, SizeIs(2));
  EXPECT_EQ(asked[0].text, "content\n");
  EXPECT_EQ(asked[0].reference, "the reference\n");
}

TEST(JudgeCheck, WithoutAJudgeTheCaseCannotPass) {
  const Result<CaseChecks> checks = CaseChecks::Make(JudgedCase({kPolite}));
  ASSERT_TRUE(checks.ok());
  EXPECT_EQ(checks->WhyNoneCanPass(), "judge can't run: no judge is named (--judge-model)");
  EXPECT_THAT(Outcomes(checks->Run("Dear Sir")), ElementsAre(Outcome::kSkip));
  EXPECT_THAT(checks->QuestionsAbout("Dear Sir", checks->Run("Dear Sir")), IsEmpty());
  EXPECT_EQ(ChecksFor(JudgedCase({kPolite})).WhyNoneCanPass(), "");
}

TEST(JudgeCheck, BadOptions) {
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "judge", "rubric": " "})")), HasSubstr("needs a \"rubric\""));
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "judge", "rubric": 5})")), HasSubstr("needs a \"rubric\""));
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "judge", "rubric": "r", "against": "baseline"})")),
              HasSubstr("must be \"reference\""));
  EXPECT_THAT(ErrorOf(SpecFrom(R"({"type": "judge", "rubric": "r", "against": "reference"})")),
              HasSubstr("the case has no \"reference\""));
  Case many;
  many.id = "c";
  for (int i = 0; i < 21; ++i) many.checks.push_back(SpecFrom(kPolite));
  EXPECT_THAT(CaseChecks::Make(many).error().message, HasSubstr("more than 20 checks that ask a judge"));
}

TEST(JudgeCheck, CriteriaOfOtherToolsAreARubric) {
  const CheckSpec spec = SpecFrom(R"({"type": "judge", "criteria": ["helpful", "short"]})");
  EXPECT_EQ(spec.options.at("rubric"), "- helpful\n- short");
  EXPECT_EQ(spec.unavailable, "");
}

}  // namespace
}  // namespace upskill
