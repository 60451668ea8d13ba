// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/verdict.h"

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "support/plan_fixture.h"
#include "util/rng.h"

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::IsEmpty;
using ::testing::Lt;
using ::testing::Optional;
using ::testing::SizeIs;

Sample Answer(int case_number, Arm arm, int round, bool passed, const std::string& student = "fake") {
  Sample sample;
  sample.student = student;
  sample.case_id = "case-" + std::to_string(case_number);
  sample.arm = arm;
  sample.round = round;
  sample.response.text = sample.case_id + " in round " + std::to_string(round) + (passed ? " right" : " wrong");
  sample.response.usage.input = arm == Arm::kSkill ? 300 : 100;
  sample.response.usage.output = 10 + round;
  sample.response.seconds = 0.5;
  sample.response.cost_usd = arm == Arm::kSkill ? 0.003 : 0.001;
  sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
  return sample;
}

Sample Failure(int case_number, Arm arm, int round) {
  Sample sample = Answer(case_number, arm, round, false);
  sample.error = Error{ErrorKind::kUnavailable, "overloaded"};
  return sample;
}

// Whether a cell passes, by case (from 1) and round.
using Passes = std::function<bool(int, int)>;

std::vector<Sample> Answers(int cases, int rounds, const Passes& without, const Passes& with,
                            const std::string& student = "fake") {
  std::vector<Sample> samples;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 1; i <= cases; ++i) {
      samples.push_back(Answer(i, Arm::kBaseline, round, without(i, round), student));
      samples.push_back(Answer(i, Arm::kSkill, round, with(i, round), student));
    }
  }
  return samples;
}

bool Always(int /*case_number*/, int /*round*/) { return true; }
bool Never(int /*case_number*/, int /*round*/) { return false; }

// Replaces the sample of a cell.
void Put(std::vector<Sample>& samples, const Sample& sample) {
  for (Sample& other : samples) {
    if (CellName(other) == CellName(sample)) other = sample;
  }
}

StudentVerdict JudgeOne(int cases, int rounds, const std::vector<Sample>& samples) {
  return JudgeRun(RunData(MakeTestPlan(cases, rounds), samples)).at(0);
}

TEST(JudgeRun, SevenWinsHelp) {  // E(7, 0) = (2^8 − 1)/8 = 31.9
  const StudentVerdict verdict = JudgeOne(7, 1, Answers(7, 1, Never, Always));
  EXPECT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_NEAR(verdict.p_helps, 1.0 / 128.0 / 0.7, 1e-5);
  EXPECT_EQ(verdict.p_hurts, 1.0);
  EXPECT_NEAR(verdict.e_helps, 255.0 / 8.0, 1e-9);
  EXPECT_NEAR(verdict.e_hurts, 1.0 / 8.0, 1e-9);
  EXPECT_THAT(verdict.lift, Optional(1.0));
  EXPECT_EQ(verdict.complete_rounds, 1);
  EXPECT_THAT(verdict.low, Optional(Gt(0.0)));
  EXPECT_THAT(verdict.high, Optional(1.0));
  EXPECT_THAT(verdict.new_cases_low, Optional(Gt(0.0)));
  EXPECT_FALSE(verdict.more_rounds.has_value());
  EXPECT_TRUE(IsSettled(verdict));
}

TEST(JudgeRun, FiveWinsInThePlannedRoundHelp) {  // 2^−5 is less than 0.7 · 5 %
  EXPECT_EQ(JudgeOne(5, 1, Answers(5, 1, Never, Always)).word, Verdict::kHelps);
}

TEST(JudgeRun, FourWinsLeaveItOpen) {
  const StudentVerdict verdict = JudgeOne(4, 1, Answers(4, 1, Never, Always));
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_NEAR(verdict.p_helps, 1.0 / 16.0 / 0.7, 1e-4);
  EXPECT_THAT(verdict.more_rounds, Optional(1));
  EXPECT_FALSE(verdict.more_rounds_above.has_value());
  EXPECT_FALSE(IsSettled(verdict));
}

// One loss and two wins: too little to name a number of rounds.
TEST(JudgeRun, AForecastThatIsTooLongNamesItsBound) {
  const auto without = [](int number, int) { return number == 1; };
  const auto with = [](int number, int) { return number == 2 || number == 3; };
  const StudentVerdict verdict = JudgeOne(12, 1, Answers(12, 1, without, with));
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_FALSE(verdict.more_rounds.has_value());
  EXPECT_THAT(verdict.more_rounds_above, Optional(8));
}

TEST(JudgeRun, SevenLossesHurt) {
  const StudentVerdict verdict = JudgeOne(7, 1, Answers(7, 1, Always, Never));
  EXPECT_EQ(verdict.word, Verdict::kHurts);
  EXPECT_NEAR(verdict.e_hurts, 255.0 / 8.0, 1e-9);
  EXPECT_THAT(verdict.lift, Optional(-1.0));
}

TEST(JudgeRun, ADecisionIsFinalEvenIfLaterRoundsWeakenIt) {
  const Passes with = [](int number, int round) { return round == 0 || number == 1; };
  const Passes without = [](int number, int round) { return round > 0 && number > 2; };
  const StudentVerdict verdict = JudgeOne(7, 2, Answers(7, 2, without, with));
  EXPECT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_GT(*verdict.lift, 0.0);
  EXPECT_LT(*verdict.lift, 0.5);
}

TEST(JudgeRun, SeveralStudentsNeedMoreEvidence) {
  std::vector<Sample> samples = Answers(5, 1, Never, Always, "one");
  for (const Sample& sample : Answers(5, 1, Never, Never, "two")) samples.push_back(sample);
  const std::vector<StudentVerdict> verdicts = JudgeRun(RunData(MakeTestPlan(5, 1, {"one", "two"}), samples));
  EXPECT_EQ(verdicts[0].word, Verdict::kUndecided);  // 1/32 > 0.9 · 2.5 %
  EXPECT_EQ(verdicts[1].word, Verdict::kUndecided);
  EXPECT_FALSE(IsSettled(verdicts[0]));
  EXPECT_FALSE(IsSettled(verdicts[1]));
}

TEST(JudgeRun, ADecidedStudentLowersTheBarForTheOthers) {
  std::vector<Sample> samples = Answers(8, 1, Never, Always, "one");  // 1/256
  for (const Sample& sample : Answers(8, 1, [](int i, int) { return i <= 3; }, Always, "two"))
    samples.push_back(sample);  // 1/32
  const std::vector<StudentVerdict> verdicts = JudgeRun(RunData(MakeTestPlan(8, 1, {"one", "two"}), samples));
  EXPECT_EQ(verdicts[0].word, Verdict::kHelps);
  EXPECT_EQ(verdicts[1].word, Verdict::kHelps);
  EXPECT_TRUE(IsSettled(verdicts[0]));
  EXPECT_TRUE(IsSettled(verdicts[1]));
}

TEST(JudgeRun, ManyTiesAreNoEffect) {
  const StudentVerdict verdict = JudgeOne(10, 20, Answers(10, 20, Always, Always));
  EXPECT_EQ(verdict.word, Verdict::kNoEffect);
  EXPECT_THAT(verdict.sequence_low, Optional(Gt(-0.05)));
  EXPECT_THAT(verdict.sequence_high, Optional(Lt(0.05)));
}

TEST(JudgeRun, TheMinimalLiftMustBeExceeded) {
  Plan plan = MakeTestPlan(7);
  plan.verdict.min_lift = 0.5;
  EXPECT_EQ(JudgeRun(RunData(plan, Answers(7, 1, Never, Always))).at(0).word, Verdict::kUndecided);
}

TEST(JudgeRun, ForecastsTheRounds) {
  const Passes half = [](int i, int round) { return (i + round) % 2 == 0; };
  const Passes most = [](int i, int round) { return (i + round) % 2 == 0 || i == 1; };
  const StudentVerdict verdict = JudgeOne(8, 2, Answers(8, 2, half, most));
  ASSERT_EQ(verdict.word, Verdict::kUndecided);
  ASSERT_TRUE(verdict.more_rounds.has_value());
  EXPECT_EQ(JudgeOne(8, 100, Answers(8, 2 + *verdict.more_rounds, half, most)).word, Verdict::kHelps);
}

TEST(JudgeRun, AnErrorExcludesItsCaseFromEveryRound) {
  std::vector<Sample> samples = Answers(8, 3, Never, Always);
  Put(samples, Failure(2, Arm::kSkill, 1));
  const StudentVerdict verdict = JudgeOne(8, 3, samples);
  EXPECT_THAT(verdict.excluded, ElementsAre("case-2"));
  EXPECT_EQ(verdict.complete_rounds, 3);
  EXPECT_NEAR(verdict.e_helps, (4194304.0 - 1.0) / 22.0, 1e-5);  // 21 pairs
}

TEST(JudgeRun, AnAnswerAfterAnErrorCounts) {
  std::vector<Sample> samples = Answers(8, 1, Never, Always);
  samples.insert(samples.begin(), Failure(2, Arm::kSkill, 0));
  EXPECT_THAT(JudgeOne(8, 1, samples).excluded, IsEmpty());
}

TEST(JudgeRun, AnOutageExcludesItsRoundAndNoCase) {
  std::vector<Sample> samples = Answers(8, 3, Never, Always);
  for (int i = 1; i <= 6; ++i) Put(samples, Failure(i, Arm::kBaseline, 1));
  const StudentVerdict verdict = JudgeOne(8, 3, samples);
  EXPECT_THAT(verdict.excluded, IsEmpty());
  EXPECT_EQ(verdict.complete_rounds, 2);
}

TEST(JudgeRun, CasesThatNeverWorkDontMakeEveryRoundAnOutage) {
  std::vector<Sample> samples = Answers(8, 2, Never, Always);
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i <= 6; ++i) Put(samples, Failure(i, Arm::kBaseline, round));
  }
  const StudentVerdict verdict = JudgeOne(8, 2, samples);
  EXPECT_THAT(verdict.excluded, SizeIs(6));
  EXPECT_EQ(verdict.complete_rounds, 2);
  EXPECT_THAT(verdict.lift, Optional(1.0));
}

TEST(JudgeRun, NothingCountsWhenEveryCaseFails) {
  std::vector<Sample> samples = Answers(2, 1, Never, Always);
  Put(samples, Failure(1, Arm::kSkill, 0));
  Put(samples, Failure(2, Arm::kBaseline, 0));
  const StudentVerdict verdict = JudgeOne(2, 1, samples);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_THAT(verdict.excluded, ElementsAre("case-1", "case-2"));
  EXPECT_EQ(verdict.complete_rounds, 0);
  EXPECT_FALSE(verdict.lift.has_value());
}

TEST(JudgeRun, AnUnfinishedRoundAndLaterOnesDontCount) {
  std::vector<Sample> samples = Answers(8, 3, Never, Always);
  samples.erase(samples.begin() + 20);  // case 3 of round 1
  const StudentVerdict verdict = JudgeOne(8, 3, samples);
  EXPECT_EQ(verdict.complete_rounds, 1);
  EXPECT_THAT(verdict.excluded, IsEmpty());
}

TEST(JudgeRun, ErrorsInAnUnfinishedRoundExcludeNoCase) {
  std::vector<Sample> samples = Answers(8, 2, Never, Always);
  Put(samples, Failure(1, Arm::kBaseline, 1));
  samples.pop_back();
  EXPECT_THAT(JudgeOne(8, 2, samples).excluded, IsEmpty());
}

TEST(JudgeRun, TemperatureZeroNeedsNoSecondRound) {
  Plan plan = MakeTestPlan(4, 3);
  plan.sampling.temperature = 0.0;
  EXPECT_TRUE(JudgeRun(RunData(plan, Answers(4, 1, Never, Always))).at(0).answers_repeat);
  const StudentVerdict varying = JudgeRun(RunData(plan, Answers(4, 2, Never, Always))).at(0);
  EXPECT_FALSE(varying.answers_repeat);
  EXPECT_TRUE(varying.hangs_on_wording);
  plan.sampling.temperature = 0.7;
  EXPECT_FALSE(JudgeRun(RunData(plan, Answers(4, 2, Never, Always))).at(0).hangs_on_wording);
}

TEST(JudgeRun, NewCasesAreNotClaimedBelowSix) {
  EXPECT_FALSE(JudgeOne(5, 2, Answers(5, 2, Never, Always)).new_cases_low.has_value());
  EXPECT_TRUE(JudgeOne(6, 2, Answers(6, 2, Never, Always)).new_cases_low.has_value());
}

TEST(JudgeRun, NamesCeilingAndFloor) {
  const StudentVerdict verdict =
      JudgeOne(3, 2, Answers(3, 2, [](int i, int) { return i == 1; }, [](int i, int) { return i != 3; }));
  EXPECT_THAT(verdict.ceiling, ElementsAre("case-1"));
  EXPECT_THAT(verdict.floor, ElementsAre("case-3"));
}

// The machine or the server may have been busier in one of them.
TEST(JudgeRun, TimesOfDifferentRunsAreNotCompared) {
  std::vector<Sample> samples = Answers(4, 2, Never, Always);
  for (Sample& sample : samples) sample.cached_from = "earlier";
  EXPECT_TRUE(JudgeOne(4, 2, samples).seconds.has_value());
  for (Sample& sample : samples) {
    if (sample.arm == Arm::kSkill) sample.cached_from = "";
  }
  const StudentVerdict verdict = JudgeOne(4, 2, samples);
  EXPECT_FALSE(verdict.seconds.has_value());
  EXPECT_TRUE(verdict.tokens.has_value());
}

TEST(JudgeRun, PairsTokensCostAndSeconds) {
  const StudentVerdict verdict = JudgeOne(4, 2, Answers(4, 2, [](int i, int) { return i == 1; }, Always));
  ASSERT_TRUE(verdict.tokens.has_value());
  EXPECT_DOUBLE_EQ(verdict.tokens->without, 110.5);
  EXPECT_DOUBLE_EQ(verdict.tokens->with, 310.5);
  EXPECT_LT(*verdict.tokens->low, 0.0) << "of eight answers";
  EXPECT_GT(*verdict.tokens->high, 200.0);
  EXPECT_NEAR(*verdict.tokens->ratio(), 200.0 / 110.5, 1e-12);
  EXPECT_EQ(verdict.output_tokens->change(), 0.0);
  EXPECT_EQ(verdict.seconds->with, 0.5);
  ASSERT_TRUE(verdict.cost_per_pass_without.has_value());
  EXPECT_NEAR(*verdict.cost_per_pass_without, 0.004, 1e-12);
  EXPECT_NEAR(*verdict.cost_per_pass_with, 0.003, 1e-12);
}

TEST(JudgeRun, AnUnknownCostMakesTheCostUnknown) {
  std::vector<Sample> samples = Answers(4, 2, Never, Always);
  samples[5].response.cost_usd.reset();
  const StudentVerdict verdict = JudgeOne(4, 2, samples);
  EXPECT_FALSE(verdict.cost_usd.has_value());
  EXPECT_FALSE(verdict.cost_per_pass_with.has_value());
  EXPECT_TRUE(verdict.tokens.has_value());
}

TEST(JudgeRun, WithoutAPassedCellThereIsNoCostPerPass) {
  EXPECT_FALSE(JudgeOne(4, 2, Answers(4, 2, Never, Always)).cost_per_pass_without.has_value());
}

TEST(JudgeRun, ComparesWithTheGivenArm) {
  Plan plan = MakeTestPlan(7);
  plan.arms = {Arm::kSkill, Arm::kPrevious};
  EXPECT_EQ(ComparedArm(plan), Arm::kPrevious);
  std::vector<Sample> samples = Answers(7, 1, Never, Always);
  for (Sample& sample : samples) {
    if (sample.arm == Arm::kBaseline) sample.arm = Arm::kPrevious;
  }
  EXPECT_EQ(JudgeRun(RunData(plan, samples), Arm::kPrevious).at(0).word, Verdict::kHelps);
  EXPECT_EQ(JudgeRun(RunData(plan, samples)).at(0).complete_rounds, 0);
  EXPECT_FALSE(JudgeRun(RunData(plan, samples)).at(0).lift.has_value());
}

TEST(JudgeRun, IgnoresSamplesOfOtherPlans) {
  std::vector<Sample> samples = Answers(7, 1, Never, Always);
  samples.push_back(Answer(99, Arm::kSkill, 0, false));
  samples.push_back(Answer(1, Arm::kSkill, 99999, false));
  samples.push_back(Answer(1, Arm::kSkill, -1, false));
  samples.push_back(Answer(1, Arm::kPlacebo, 0, false));
  samples.push_back(Answer(1, Arm::kSkill, 0, false, "another"));
  EXPECT_EQ(JudgeOne(7, 1, samples).word, Verdict::kHelps);
}

TEST(JudgeRun, WithoutSamplesItIsUndecided) {
  const StudentVerdict verdict = JudgeOne(7, 1, {});
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_EQ(verdict.e_helps, 1.0);
  EXPECT_FALSE(verdict.lift.has_value());
  EXPECT_FALSE(IsSettled(verdict));
}

TEST(JudgeRun, RarelyErrsWhenCheckedAfterEveryRound) {
  Rng rng(5);
  int helps = 0;
  int hurts = 0;
  constexpr int kRuns = 100;
  const Passes coin = [&](int, int) { return rng.Uniform() < 0.5; };
  for (int run = 0; run < kRuns; ++run) {
    const StudentVerdict verdict = JudgeOne(6, 20, Answers(6, 20, coin, coin));
    helps += verdict.word == Verdict::kHelps ? 1 : 0;
    hurts += verdict.word == Verdict::kHurts ? 1 : 0;
  }
  EXPECT_LE(helps, 13);  // 4.5 % of them, and four standard errors
  EXPECT_LE(hurts, 13);
}

// The word by a fresh judgement of the samples below a round.
bool SettledBy(const Plan& plan, const std::vector<Sample>& samples, int rounds, std::size_t student) {
  RunData data(plan);
  for (const Sample& sample : samples) {
    if (sample.round < rounds) data.Add(sample);
  }
  return IsSettled(JudgeRun(data, ComparedArm(plan)).at(student));
}

// A run that grows round by round: errors exclude cases from earlier rounds, an answer after an error restores one.
TEST(VerdictWatch, AgreesWithAFreshJudgement) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Rng rng(seed);
    Plan plan = MakeTestPlan(6, 12, {"one", "two"});
    plan.verdict.margin = 0.3;
    RunData data(plan);
    VerdictWatch watch(data, Arm::kBaseline);
    std::vector<Sample> samples;
    bool settled = false;
    for (int round = 0; round < plan.rounds; ++round) {
      for (const std::string student : {"one", "two"}) {
        const double chance = student == "one" ? 0.8 : 0.3;
        for (int i = 1; i <= 6; ++i) {
          for (const Arm arm : plan.arms) {
            const bool passes = rng.Uniform() < (arm == Arm::kSkill ? chance : 0.3);
            Sample sample = Answer(i, arm, round, passes, student);
            if (rng.Uniform() < 0.02) sample.error = Error{ErrorKind::kUnavailable, "overloaded"};
            samples.push_back(sample);
            data.Add(sample);
          }
        }
      }
      if (round == 6) {  // everything is tried again
        for (std::size_t i = 0, count = samples.size(); i < count; ++i) {
          if (samples[i].ok()) continue;
          Sample again = samples[i];
          again.error.reset();
          samples.push_back(again);
          data.Add(again);
        }
      }
      for (const std::size_t student : {0U, 1U}) {
        const bool expected = SettledBy(plan, samples, round + 1, student);
        EXPECT_EQ(watch.IsSettledAfter(round + 1, student), expected) << "seed " << seed << " round " << round;
        settled = settled || expected;
      }
    }
    // Looking back at fewer rounds gives the same result as before.
    for (const int rounds : {3, 12, 1, 8}) {
      EXPECT_EQ(watch.IsSettledAfter(rounds, 0), SettledBy(plan, samples, rounds, 0)) << "seed " << seed;
    }
    EXPECT_TRUE(settled) << "seed " << seed;
  }
}

TEST(VerdictWatch, RepeatingAnswersSettleIt) {
  Plan plan = MakeTestPlan(3, 2);
  plan.sampling.temperature = 0.0;
  const RunData data(plan, Answers(3, 1, Never, Never));
  EXPECT_TRUE(VerdictWatch(data, Arm::kBaseline).IsSettledAfter(1, 0));
  plan.sampling.temperature = 0.7;
  const RunData varying(plan, Answers(3, 1, Never, Never));
  EXPECT_FALSE(VerdictWatch(varying, Arm::kBaseline).IsSettledAfter(1, 0));
  const RunData empty(plan);
  EXPECT_FALSE(VerdictWatch(empty, Arm::kBaseline).IsSettledAfter(1, 0));
}

TEST(SettlingName, IsStable) {
  EXPECT_STREQ(SettlingName(Settling::kOpen), "");
  EXPECT_STREQ(SettlingName(Settling::kDecided), "decided");
  EXPECT_STREQ(SettlingName(Settling::kRepeats), "repeats");
  EXPECT_STREQ(SettlingName(Settling::kFutile), "futile");
}

TEST(VerdictName, IsStable) {
  EXPECT_STREQ(VerdictName(Verdict::kHelps), "helps");
  EXPECT_STREQ(VerdictName(Verdict::kHurts), "hurts");
  EXPECT_STREQ(VerdictName(Verdict::kNoEffect), "no effect");
  EXPECT_STREQ(VerdictName(Verdict::kUndecided), "undecided");
}

}  // namespace
}  // namespace upskill
