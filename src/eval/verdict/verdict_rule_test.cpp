// SPDX-License-Identifier: Apache-2.0
// How the word of a verdict comes about; what samples count is in verdict_test.cpp.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "eval/verdict/verdict.h"
#include "support/plan_fixture.h"
#include "util/rng.h"

namespace upskill {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

// Whether a cell passes, by case (from 1) and round.
using Outcomes = std::function<bool(int, int)>;

bool Yes(int /*case_number*/, int /*round*/) { return true; }
bool No(int /*case_number*/, int /*round*/) { return false; }

std::vector<Sample> RunOf(int cases, int rounds, const Outcomes& without, const Outcomes& with) {
  std::vector<Sample> samples;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 1; i <= cases; ++i) {
      for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
        const bool passed = arm == Arm::kSkill ? with(i, round) : without(i, round);
        Sample& sample = samples.emplace_back();
        sample.student = "fake";
        sample.case_id = "case-" + std::to_string(i);
        sample.arm = arm;
        sample.round = round;
        sample.response.text = sample.case_id + (passed ? " right in " : " wrong in ") + std::to_string(round);
        sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
      }
    }
  }
  return samples;
}

StudentVerdict JudgePlan(int cases, int rounds, const std::vector<Sample>& samples) {
  return JudgeRun(RunData(MakeTestPlan(cases, rounds), samples)).at(0);
}

// Every answer the same text in all rounds.
std::vector<Sample> SameAnswers(int cases, int rounds) {
  std::vector<Sample> samples = RunOf(cases, rounds, No, Yes);
  for (Sample& sample : samples) sample.response.text = sample.case_id;
  return samples;
}

StudentVerdict JudgeAtTemperatureZero(int cases, int rounds, const std::vector<Sample>& samples) {
  Plan plan = MakeTestPlan(cases, rounds);
  plan.sampling.temperature = 0.0;
  return JudgeRun(RunData(plan, samples)).at(0);
}

TEST(Rule, RepeatedAnswersAtTemperatureZeroAddNoEvidence) {
  const StudentVerdict verdict = JudgeAtTemperatureZero(4, 10, SameAnswers(4, 10));
  EXPECT_TRUE(verdict.answers_repeat);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_NEAR(verdict.e_helps, 31.0 / 5.0, 1e-9);
  EXPECT_EQ(verdict.complete_rounds, 10);
  EXPECT_FALSE(verdict.more_rounds.has_value());
  EXPECT_EQ(SettlingOf(verdict), Settling::kRepeats);
  EXPECT_EQ(JudgeAtTemperatureZero(6, 10, SameAnswers(6, 10)).word, Verdict::kHelps);  // 2^−6 < 0.45 · 5 %
}

TEST(Rule, OneDifferentAnswerMakesNoEvidenceOfTheOthersCopies) {
  std::vector<Sample> samples = SameAnswers(4, 10);
  samples.back().response.text = "another";
  const StudentVerdict verdict = JudgeAtTemperatureZero(4, 10, samples);
  EXPECT_FALSE(verdict.answers_repeat);
  EXPECT_THAT(verdict.lift, Optional(1.0));
  EXPECT_GT(verdict.p_helps, 0.0001);  // 13 pairs: ten of one case, one of each other
}

// A server with a cache repeats its answers at any temperature.
TEST(Rule, RepeatedAnswersOfSampledRoundsAddNoEvidence) {
  EXPECT_FALSE(JudgePlan(4, 20, SameAnswers(4, 1)).answers_repeat) << "one round doesn't tell";
  const StudentVerdict three = JudgePlan(4, 20, SameAnswers(4, 3));
  EXPECT_TRUE(three.answers_repeat);
  EXPECT_EQ(three.word, Verdict::kUndecided);
  EXPECT_TRUE(IsSettled(three));
  std::vector<Sample> without_texts = SameAnswers(4, 3);  // of an imported run
  for (Sample& sample : without_texts) sample.response.text.clear();
  EXPECT_EQ(JudgePlan(4, 20, without_texts).word, Verdict::kHelps);
}

// A plan whose cases share inputs: `copies` cases for each.
Plan PlanWithCopies(int inputs, int copies, int rounds) {
  Plan plan = MakeTestPlan(inputs * copies, rounds);
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i)
    plan.suite.cases[i].input = "question " + std::to_string(i / static_cast<std::size_t>(copies));
  return plan;
}

TEST(Rule, CasesWithOneInputAreOneUnit) {
  const StudentVerdict verdict = JudgeRun(RunData(PlanWithCopies(4, 3, 1), RunOf(12, 1, No, Yes))).at(0);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);  // 2^−4, not 2^−12
  EXPECT_NEAR(verdict.p_helps, 1.0 / 16.0 / 0.7, 1e-4);
  EXPECT_NEAR(verdict.e_helps, 31.0 / 5.0, 1e-9);
  EXPECT_EQ(verdict.distinct_inputs, 4U);
  EXPECT_FALSE(verdict.new_cases_low.has_value());
  EXPECT_THAT(verdict.lift, Optional(1.0));
}

TEST(Rule, CopiesSeldomErr) {
  Rng rng(8);
  int helps = 0;
  int hurts = 0;
  for (int run = 0; run < 100; ++run) {
    std::vector<bool> draws(4 * 5 * 2);
    std::generate(draws.begin(), draws.end(), [&] { return rng.Uniform() < 0.5; });
    const auto same = [&](int arm) {
      return [&draws, arm](int i, int round) {
        return draws[static_cast<std::size_t>(((i - 1) / 3 * 5 + round) * 2 + arm)];
      };
    };
    const StudentVerdict verdict = JudgeRun(RunData(PlanWithCopies(4, 3, 5), RunOf(12, 5, same(0), same(1)))).at(0);
    helps += verdict.word == Verdict::kHelps ? 1 : 0;
    hurts += verdict.word == Verdict::kHurts ? 1 : 0;
  }
  EXPECT_LE(helps, 13);  // it was 20
  EXPECT_LE(hurts, 13);
}

// `many` cases with one input, then `singles` with one input each.
Plan PlanWithOneRepeatedInput(int many, int singles, int rounds) {
  Plan plan = MakeTestPlan(many + singles, rounds);
  for (std::size_t i = 0; i < plan.suite.cases.size(); ++i)
    plan.suite.cases[i].input = "question " + std::to_string(std::max(i, static_cast<std::size_t>(many - 1)));
  return plan;
}

TEST(Rule, EachInputCountsOnce) {
  const Outcomes repeated = [](int i, int) { return i <= 10; };
  const Outcomes single = [](int i, int) { return i > 10; };
  const StudentVerdict verdict =
      JudgeRun(RunData(PlanWithOneRepeatedInput(10, 4, 2), RunOf(14, 2, repeated, single))).at(0);
  EXPECT_THAT(verdict.lift, Optional(DoubleNear(0.6, 1e-12)));  // of five inputs, four gain and one loses
  EXPECT_EQ(verdict.distinct_inputs, 5U);
  EXPECT_EQ(verdict.cases, 14U);
}

// Half of the cases with one input gain, which is half a gain of that input.
TEST(Rule, ChangesOfOneInputAreAveraged) {
  const Outcomes some = [](int i, int) { return i > 2; };
  const StudentVerdict verdict = JudgeRun(RunData(PlanWithOneRepeatedInput(4, 1, 1), RunOf(5, 1, No, some))).at(0);
  EXPECT_THAT(verdict.lift, Optional(DoubleNear(0.75, 1e-12)));
}

// Four inputs with ten cases each: of three of them one case gains in every round, and the fourth breaks in 30 % of the
// rounds with all its cases. Adding up single cases, this was `helps` in a third of the runs.
TEST(Rule, SmallGainsThatPayForRareLossesSeldomErr) {
  constexpr int kRuns = 100;
  constexpr int kRounds = 6;
  Rng rng(9);
  int helps = 0;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<bool> breaks(kRounds);
    std::generate(breaks.begin(), breaks.end(), [&] { return rng.Uniform() < 0.3; });
    const Outcomes without = [&](int i, int round) { return i > 30 && breaks[static_cast<std::size_t>(round)]; };
    const Outcomes with = [](int i, int) { return i <= 30 && i % 10 == 0; };
    const RunData data(PlanWithCopies(4, 10, kRounds), RunOf(40, kRounds, without, with));
    helps += JudgeRun(data).at(0).word == Verdict::kHelps ? 1 : 0;
  }
  EXPECT_LE(helps, 13);
}

TEST(Rule, TheEvidenceIsThatAfterTheLastRound) {
  const Outcomes first_round = [](int, int round) { return round == 0; };
  const Outcomes later_rounds = [](int, int round) { return round > 0; };
  const StudentVerdict verdict = JudgePlan(7, 2, RunOf(7, 2, later_rounds, first_round));
  EXPECT_LT(verdict.e_helps, 1.0);  // seven wins, then seven losses
  EXPECT_NEAR(verdict.p_anytime_helps, 8.0 / 255.0, 1e-9);
  EXPECT_EQ(verdict.p_anytime_hurts, 1.0);
}

TEST(Rule, TheFirstPlanDecidesHowAlphaIsSpent) {
  Plan plan = MakeTestPlan(5, 20);
  const RunData long_plan(plan, RunOf(5, 1, No, Yes));
  EXPECT_EQ(JudgeRun(long_plan).at(0).word, Verdict::kUndecided);
  plan.planned_rounds = 1;  // raised to 20 later
  const RunData raised(plan, RunOf(5, 1, No, Yes));
  EXPECT_EQ(JudgeRun(raised).at(0).word, Verdict::kHelps);
}

TEST(Rule, ARunThatMayStopShowsTheSequence) {
  Plan plan = MakeTestPlan(8, 20);
  const std::vector<Sample> samples = RunOf(8, 1, [](int i, int) { return i == 1; }, Yes);
  plan.rounds = 1;
  const StudentVerdict fixed = JudgeRun(RunData(plan, samples)).at(0);
  plan.rounds = 20;
  EXPECT_TRUE(JudgeRun(RunData(plan, samples)).at(0).interval_is_sequence) << "the run hasn't ended";
  EXPECT_FALSE(fixed.interval_is_sequence);
  EXPECT_FALSE(fixed.lift_estimate.has_value());
  plan.stop_when_decided = true;
  const StudentVerdict stopped = JudgeRun(RunData(plan, samples)).at(0);
  EXPECT_TRUE(stopped.interval_is_sequence);
  EXPECT_EQ(stopped.low, stopped.sequence_low);
  EXPECT_EQ(stopped.high, stopped.sequence_high);
  EXPECT_LT(*stopped.low, *fixed.low);
  EXPECT_TRUE(stopped.lift_estimate.has_value());
  EXPECT_DOUBLE_EQ(stopped.interval_level, 0.95);
  plan.share.look = 2;  // earlier looks leave a tenth of alpha
  EXPECT_DOUBLE_EQ(JudgeRun(RunData(plan, samples)).at(0).interval_level, 0.995);
}

TEST(Rule, ARunThatMayStopEndsWhenTheRestCantDecide) {
  Plan plan = MakeTestPlan(6, 20);
  const Outcomes alternate = [](int i, int round) { return (i + round) % 2 == 0; };
  const Outcomes other = [](int i, int round) { return (i + round) % 2 != 0; };
  const std::vector<Sample> samples = RunOf(6, 18, alternate, other);
  EXPECT_FALSE(IsSettled(JudgeRun(RunData(plan, samples)).at(0)));
  plan.stop_when_decided = true;
  const RunData data(plan, samples);
  EXPECT_EQ(SettlingOf(JudgeRun(data).at(0)), Settling::kFutile);
  EXPECT_EQ(JudgeRun(data).at(0).word, Verdict::kUndecided);
  EXPECT_TRUE(VerdictWatch(data, Arm::kBaseline).IsSettledAfter(18, 0));
  EXPECT_FALSE(VerdictWatch(data, Arm::kBaseline).IsSettledAfter(2, 0));
}

// One case gains all that there is to gain: true of these cases, and no evidence on others.
TEST(Rule, OneCaseShowsNothingInGeneral) {
  const StudentVerdict one = JudgePlan(12, 20, RunOf(12, 20, [](int i, int) { return i != 1; }, Yes));
  EXPECT_EQ(one.word, Verdict::kHelps);
  EXPECT_EQ(one.general, Verdict::kUndecided);
  const StudentVerdict all = JudgePlan(12, 3, RunOf(12, 3, No, Yes));
  EXPECT_EQ(all.general, Verdict::kHelps);
  EXPECT_LT(all.p_general_helps, 0.01);
  EXPECT_EQ(JudgePlan(12, 3, RunOf(12, 3, Yes, No)).general, Verdict::kHurts);
  EXPECT_EQ(JudgePlan(5, 3, RunOf(5, 3, No, Yes)).general, Verdict::kUndecided);
}

}  // namespace
}  // namespace upskill
