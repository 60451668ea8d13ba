// SPDX-License-Identifier: Apache-2.0
#include "teach/choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/answers_fixture.h"
#include "teach/generate.h"

namespace upskill {
namespace {

using testing::HasSubstr;

Candidate Measured(std::vector<double> train, std::size_t tokens) {
  Candidate candidate;
  candidate.kind = "edit";
  candidate.measured = true;
  candidate.train = std::move(train);
  candidate.tokens = tokens;
  candidate.status = "measured";
  return candidate;
}

Candidate NotMeasured(const std::string& status = "not measured") {
  Candidate candidate;
  candidate.kind = "edit";
  candidate.status = status;
  return candidate;
}

TEST(BestOnTrain, TheHigherMeanRateOverStudents) {
  EXPECT_EQ(BestOnTrain({Measured({0.4, 0.4}, 10), Measured({0.9, 0.1}, 500), Measured({0.3, 0.4}, 1)}), 1U);
}

TEST(BestOnTrain, TiesGoToTheShorterThenTheFirst) {
  EXPECT_EQ(BestOnTrain({Measured({0.5}, 100), Measured({0.5}, 90), Measured({0.5}, 90)}), 1U);
  EXPECT_EQ(BestOnTrain({Measured({0.5}, 90), Measured({0.5 + 1e-12}, 100)}), 0U) << "a rounding error isn't a lead";
  EXPECT_EQ(BestOnTrain({Measured({0.0}, 100), Measured({0.0}, 10)}), 0U) << "a tie without passes says nothing";
}

TEST(BestOnTrain, UnmeasuredAndLossyCandidatesAreBeaten) {
  Candidate loser = Measured({0.9}, 10);
  loser.kind = "shorter";
  loser.lost = 1;
  EXPECT_EQ(BestOnTrain({Measured({0.5}, 100), loser}), 0U);
  EXPECT_EQ(BestOnTrain({NotMeasured(), Measured({0.0}, 100)}), 1U);
  EXPECT_EQ(BestOnTrain({Measured({0.0}, 100), NotMeasured()}), 0U);
}

TEST(ChosenCandidate, TheLatestWhenNoneWasMeasured) {
  EXPECT_EQ(ChosenCandidate({NotMeasured(), NotMeasured()}), 1U);
  EXPECT_EQ(ChosenCandidate({NotMeasured(), Measured({0.1}, 5), NotMeasured()}), 1U);
}

TEST(StatusAfterChoice, DescribesEachOutcome) {
  Candidate loser = Measured({0.9}, 10);
  loser.lost = 2;
  EXPECT_EQ(StatusAfterChoice(loser, false), "loses 2 answers on train");
  loser.lost = 1;
  EXPECT_EQ(StatusAfterChoice(loser, false), "loses 1 answer on train");
  EXPECT_EQ(StatusAfterChoice(Measured({0.1}, 10), false), "beaten on train");
  EXPECT_EQ(StatusAfterChoice(Measured({0.1}, 10), true), "chosen");
  EXPECT_EQ(StatusAfterChoice(NotMeasured("screened out: 0 of 3"), false), "screened out: 0 of 3");
}

TEST(Screening, AChangeMustGainAndAShorterSkillMustNotLose) {
  EXPECT_FALSE(IsWorthMeasuring({2, 2}));
  EXPECT_TRUE(IsWorthMeasuring({3, 2}));
  EXPECT_FALSE(IsWorthMeasuring({3, 2, 1, 2})) << "the other had two rounds";
  EXPECT_TRUE(FallsBehind({1, 3, 1, 2}));
  EXPECT_FALSE(FallsBehind({1, 2, 1, 2}));
  EXPECT_FALSE(LosesNothing({2, 3}));
  EXPECT_TRUE(LosesNothing({3, 3}));
}

TEST(AcceptRule, ByName) {
  EXPECT_EQ(*AcceptRuleFromName("not-worse"), AcceptRule::kNotWorse);
  EXPECT_EQ(*AcceptRuleFromName("never-worse"), AcceptRule::kNotWorse) << "its older name";
  EXPECT_THAT(AcceptRuleFromName("maybe").error().message, HasSubstr("not 'maybe'"));
}

// A chosen draft that is measured against the existing skill on 8 cases in 10 rounds: by student, the answers of 80
// that fail with the draft; with the existing skill, `before` fail.
GenerateOutcome Compared(const std::vector<int>& failures, int before = 0) {
  GenerateOutcome outcome;
  outcome.candidates = {Measured({0.5}, 10), Measured({0.6}, 10)};
  outcome.candidates[0].kind = "existing";
  outcome.candidates[1].kind = "draft";
  outcome.chosen = 1;
  std::vector<std::string> names;
  names.reserve(failures.size());
  for (std::size_t i = 0; i < failures.size(); ++i) names.push_back("student-" + std::to_string(i));
  Plan plan = MakeTestPlan(8, 10, names);
  plan.arms = {Arm::kBaseline, Arm::kSkill, Arm::kPrevious};
  outcome.measured.emplace();
  outcome.measured->judged = Judge(AnsweredRun(plan, [&](std::size_t student, Arm arm, std::size_t i, int round) {
    const int fail = arm == Arm::kSkill ? failures[student] : arm == Arm::kPrevious ? before : 80;
    return (static_cast<int>(i) * 10 + round) * 37 % 80 >= fail;
  }));
  return outcome;
}

TEST(ReasonToReject, ASkillThatReplacesAnother) {
  const GenerateOutcome better = Compared({0, 40}, 40);
  EXPECT_EQ(ReasonToReject(better, AcceptRule::kHelps), "");
  const GenerateOutcome harmful = Compared({0, 70}, 40);
  EXPECT_EQ(ReasonToReject(harmful, AcceptRule::kHelps), "the new one is worse than the existing one for student-1");
  EXPECT_EQ(ReasonToReject(harmful, AcceptRule::kNotWorse), "the new one is worse than the existing one for student-1");
  EXPECT_EQ(ReasonToReject(harmful, AcceptRule::kAny), "");
  EXPECT_THAT(ReasonToReject(Compared({4}), AcceptRule::kHelps), HasSubstr("isn't shown to be better"));
}

// A lower pass rate used to reject an equal skill as often as not, and to let through what lost a little by luck.
TEST(ReasonToReject, NotWorseRulesOutALossOfMoreThanTheMargin) {
  EXPECT_EQ(ReasonToReject(Compared({0, 0}), AcceptRule::kNotWorse), "");
  EXPECT_EQ(ReasonToReject(Compared({2}), AcceptRule::kNotWorse), "") << "2.5 points below";
  const std::string reason = ReasonToReject(Compared({4}), AcceptRule::kNotWorse);
  EXPECT_THAT(reason, HasSubstr("worse than the existing one by more than 10 points isn't ruled out for student-0 (-5 "
                                "points, at least -1"));
  EXPECT_EQ(ReasonToReject(Compared({4}), AcceptRule::kNotWorse, 0.2), "");
  EXPECT_THAT(ReasonToReject(Compared({0}), AcceptRule::kNotWorse, 0.01), HasSubstr("more than 1 points"));
}

TEST(ReasonToReject, ATieWithoutPassesIsNoEvidence) {
  EXPECT_THAT(ReasonToReject(Compared({80}, 80), AcceptRule::kNotWorse), HasSubstr("passes any held-out test"));
  EXPECT_EQ(ReasonToReject(Compared({80}, 80), AcceptRule::kAny), "");
}

TEST(ReasonToReject, NothingIsReplacedWithoutAnExistingSkill) {
  GenerateOutcome outcome = Compared({80});
  outcome.candidates[0].kind = "draft";
  EXPECT_EQ(ReasonToReject(outcome, AcceptRule::kHelps), "");
  outcome.candidates[0].kind = "existing";
  outcome.chosen = 0;
  EXPECT_EQ(ReasonToReject(outcome, AcceptRule::kHelps), "") << "the existing one itself won";
  outcome.chosen = 1;
  outcome.measured.reset();
  EXPECT_EQ(ReasonToReject(outcome, AcceptRule::kNotWorse), "the new one was not measured");
}

}  // namespace
}  // namespace upskill
