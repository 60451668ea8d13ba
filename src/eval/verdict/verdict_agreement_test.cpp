// SPDX-License-Identifier: Apache-2.0
// What is said of a run agrees with what was measured until its end.
#include <gmock/gmock.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "eval/verdict/comparisons.h"
#include "eval/verdict/verdict.h"
#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::Lt;
using ::testing::Optional;

// Wins − losses of a case (from 1) in a round.
using Difference = std::function<int(int, int)>;

RunData RunThatDiffers(const Plan& plan, int rounds, const Difference& difference) {
  std::vector<Sample> samples;
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < plan.suite.cases.size(); ++i) {
      for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
        Sample& sample = samples.emplace_back();
        sample.student = plan.students[0].spec;
        sample.case_id = plan.suite.cases[i].id;
        sample.arm = arm;
        sample.round = round;
        sample.response.text = sample.case_id + " in round " + std::to_string(round);
        const bool passed = difference(static_cast<int>(i) + 1, round) == (arm == Arm::kSkill ? 1 : -1);
        sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
      }
    }
  }
  return RunData(plan, std::move(samples));
}

StudentVerdict VerdictOf(const Plan& plan, const Difference& difference) {
  return JudgeRun(RunThatDiffers(plan, plan.rounds, difference)).at(0);
}

// All cases in the first rounds, some of them later: the lift falls from 100 points.
int GainsAtFirst(int number, int round) { return round < 2 || number <= 4 ? 1 : 0; }

TEST(LiftEstimate, IsTheMeasuredOneWithAMinimumLift) {
  Plan plan = MakeTestPlan(12, 20);
  plan.stop_when_decided = true;
  plan.verdict.min_lift = 0.45;
  const StudentVerdict verdict = VerdictOf(plan, GainsAtFirst);
  EXPECT_EQ(verdict.lift_estimate, verdict.lift);
  EXPECT_LT(*verdict.low, *verdict.lift_estimate);
  EXPECT_GT(*verdict.high, *verdict.lift_estimate);
}

TEST(LiftEstimate, IsTheMeasuredOneIfTheRunWentOn) {
  Plan plan = MakeTestPlan(12, 20);
  plan.stop_when_decided = true;
  const StudentVerdict verdict = VerdictOf(plan, GainsAtFirst);
  EXPECT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_EQ(verdict.lift_estimate, verdict.lift);
}

TEST(LiftEstimate, IsCorrectedIfTheRunEndedThere) {
  Plan plan = MakeTestPlan(12, 20);
  plan.stop_when_decided = true;
  const RunData data = RunThatDiffers(plan, 2, [](int number, int round) { return number <= 5 + round ? 1 : 0; });
  const StudentVerdict verdict = JudgeRun(data).at(0);
  ASSERT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_THAT(verdict.lift_estimate, Optional(Lt(*verdict.lift)));
  EXPECT_GE(*verdict.lift_estimate, *verdict.low);
}

// The comparison with another arm ends when that with the baseline does.
TEST(LiftEstimate, IsTheMeasuredOneAgainstOtherArms) {
  Plan plan = MakeTestPlan(12, 20);
  plan.stop_when_decided = true;
  plan.arms = {Arm::kBaseline, Arm::kSkill, Arm::kPlacebo};
  RunData data = RunThatDiffers(plan, 2, [](int, int) { return 1; });
  for (int round = 0; round < 2; ++round) {
    for (const Case& test_case : plan.suite.cases) {
      Sample sample;
      sample.student = plan.students[0].spec;
      sample.case_id = test_case.id;
      sample.arm = Arm::kPlacebo;
      sample.round = round;
      const bool passed = test_case.id.size() < 7;  // cases 1 to 9
      sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
      data.Add(sample);
    }
  }
  const StudentVerdict verdict = JudgeComparisons(data).at(Arm::kPlacebo).at(0);
  EXPECT_THAT(verdict.lift, Optional(0.25));
  EXPECT_EQ(verdict.lift_estimate, verdict.lift);
}

TEST(Word, IsWithdrawnIfTheLiftTurns) {
  const Plan plan = MakeTestPlan(4, 30);
  const auto turns = [](int number, int round) { return round < 5 ? 1 : number == 1 ? -1 : 0; };
  for (const int sign : {1, -1}) {
    const StudentVerdict verdict =
        VerdictOf(plan, [&](int number, int round) { return sign * turns(number, round); });  // 20 and 25
    EXPECT_EQ(verdict.word, Verdict::kUndecided);
    EXPECT_EQ(verdict.doubt, Doubt::kLaterAnswers);
    EXPECT_EQ(verdict.without_doubt, sign > 0 ? Verdict::kHelps : Verdict::kHurts);
    EXPECT_GT(verdict.reached_round, 1);
    EXPECT_LE(verdict.reached_round, 5);
  }
}

TEST(Word, IsWithdrawnIfNothingIsLeftOfTheLift) {
  const auto turns = [](int number, int round) { return round < 5 ? 1 : number == 1 ? -1 : 0; };
  EXPECT_EQ(VerdictOf(MakeTestPlan(4, 25), turns).word, Verdict::kUndecided);
  EXPECT_EQ(VerdictOf(MakeTestPlan(4, 24), turns).word, Verdict::kHelps);
}

TEST(Word, ARunWhoseWordIsWithdrawnGoesOn) {
  Plan plan = MakeTestPlan(4, 40);
  plan.stop_when_decided = true;
  const RunData data = RunThatDiffers(plan, 30, [](int number, int round) {
    return round < 5 ? 1 : number == 1 ? -1 : 0;
  });
  VerdictWatch watch(data, Arm::kBaseline);
  EXPECT_TRUE(watch.IsSettledAfter(10, 0));
  EXPECT_FALSE(watch.IsSettledAfter(30, 0));
  EXPECT_FALSE(IsSettled(JudgeRun(data).at(0)));
}

// Ties for long, then only wins: the interval has become too narrow for the lift.
TEST(Word, NoEffectIsWithdrawnIfTheIntervalLeavesOutTheLift) {
  Plan plan = MakeTestPlan(10, 23);
  plan.verdict.min_lift = 0.2;
  plan.verdict.margin = 0.2;
  plan.stop_when_decided = true;
  const StudentVerdict verdict = VerdictOf(plan, [](int, int round) { return round < 20 ? 0 : 1; });
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_EQ(verdict.without_doubt, Verdict::kNoEffect);
  EXPECT_LT(*verdict.low, *verdict.lift_estimate);
  EXPECT_GT(*verdict.high, *verdict.lift_estimate);
}

TEST(Word, EvidenceOfOtherSeedsDoesNotOutweighAnOppositeLift) {
  Plan plan = MakeTestPlan(12, 1);
  plan.share.prior[plan.students[0].spec] = {20.0, 0.0};
  RunData data = RunThatDiffers(plan, 1, [](int number, int) { return number == 1 ? -1 : 0; });
  const StudentVerdict verdict = JudgeComparisons(data).at(Arm::kBaseline).at(0);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_EQ(verdict.without_doubt, Verdict::kHelps);
}

// Every case gains in the first round, which shows it in general, and what follows takes it back.
TEST(GeneralWord, NeedsTheSameWordOnTheseCases) {
  const StudentVerdict verdict = VerdictOf(MakeTestPlan(12, 3), [](int, int round) { return round == 0 ? 1 : -1; });
  ASSERT_LE(verdict.p_general_helps, 0.05);
  EXPECT_NE(verdict.word, Verdict::kHelps);
  EXPECT_EQ(verdict.general, Verdict::kUndecided);
  EXPECT_EQ(verdict.general_withheld, Verdict::kHelps);
}

TEST(GeneralWord, NeedsTheIntervalForNewCases) {
  const StudentVerdict verdict =
      VerdictOf(MakeTestPlan(8, 3), [](int number, int round) { return round == 0 || number <= 4 ? 1 : -1; });
  ASSERT_LE(verdict.p_general_helps, 0.05);
  ASSERT_THAT(verdict.new_cases_low, Optional(Lt(0.0)));
  EXPECT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_EQ(verdict.general, Verdict::kUndecided);
  EXPECT_EQ(verdict.general_withheld, Verdict::kHelps);
}

// With more students, each has a smaller share of alpha: what isn't said in general must not be shown by the interval.
TEST(GeneralWord, TheIntervalLeavesZeroInWhereItIsNotSaid) {
  Plan plan = MakeTestPlan(8, 3);
  const Difference gains = [](int number, int round) { return (number + round) % 4 == 0 ? 0 : 1; };
  RunData alone = RunThatDiffers(plan, plan.rounds, gains);
  const StudentVerdict said = JudgeComparisons(alone).at(Arm::kBaseline).at(0);
  ASSERT_EQ(said.general, Verdict::kHelps);
  EXPECT_GT(*said.new_cases_low, 0.0);
  for (int i = 1; i < 8; ++i) plan.students.push_back({"other", "other-" + std::to_string(i), "other"});
  RunData among = RunThatDiffers(plan, plan.rounds, gains);
  const StudentVerdict verdict = JudgeComparisons(among).at(Arm::kBaseline).at(0);
  ASSERT_EQ(verdict.word, Verdict::kHelps);
  ASSERT_EQ(verdict.general, Verdict::kUndecided);
  EXPECT_LE(*verdict.new_cases_low, 0.0);
}

}  // namespace
}  // namespace upskill
