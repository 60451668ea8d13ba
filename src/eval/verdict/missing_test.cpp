// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/missing.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "support/plan_fixture.h"

namespace upskill {
namespace {

using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::Optional;
using ::testing::SizeIs;

Sample OutcomeOf(int case_number, Arm arm, int round, bool passed) {
  Sample sample;
  sample.student = "fake";
  sample.case_id = "case-" + std::to_string(case_number);
  sample.arm = arm;
  sample.round = round;
  sample.response.text = sample.case_id + std::to_string(round);
  sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
  return sample;
}

Sample LostTo(ErrorCause cause, int case_number, Arm arm, int round, bool will_retry) {
  Sample sample = OutcomeOf(case_number, arm, round, false);
  sample.error = Error{ErrorKind::kUnavailable, "lost"}.Because(cause);
  sample.will_retry = will_retry;
  return sample;
}

// Every answer passes with the skill and fails without it, or the reverse; `before` comes first in the journal.
std::vector<Sample> OneSided(int cases, int rounds, bool skill_passes, std::vector<Sample> before) {
  for (int round = 0; round < rounds; ++round) {
    for (int i = 1; i <= cases; ++i) {
      before.push_back(OutcomeOf(i, Arm::kBaseline, round, !skill_passes));
      before.push_back(OutcomeOf(i, Arm::kSkill, round, skill_passes));
    }
  }
  return before;
}

StudentVerdict JudgeSamples(int cases, int rounds, const std::vector<Sample>& samples) {
  return JudgeRun(RunData(MakeTestPlan(cases, rounds), samples)).at(0);
}

// Retried attempts that ended in an error of this cause, in the first `count` cases of an arm.
std::vector<Sample> Retried(ErrorCause cause, Arm arm, int count) {
  std::vector<Sample> samples;
  for (int i = 1; i <= count; ++i) samples.push_back(LostTo(cause, i, arm, 0, true));
  return samples;
}

TEST(DoubtVerdicts, RetriedTimeOutsCountAgainstTheWord) {
  const std::vector<Sample> samples = OneSided(10, 1, true, Retried(ErrorCause::kTimeout, Arm::kSkill, 7));
  const StudentVerdict verdict = JudgeSamples(10, 1, samples);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_EQ(verdict.doubt, Doubt::kErrors);
  EXPECT_EQ(verdict.without_doubt, Verdict::kHelps);
  EXPECT_THAT(verdict.lift, Optional(1.0));
  EXPECT_THAT(verdict.lost_low, Optional(DoubleNear(0.3, 1e-9)));
  EXPECT_THAT(verdict.lost_high, Optional(1.0));
  EXPECT_LE(verdict.low.value_or(1.0), *verdict.lost_low) << "the likely range has what the lost answers allow";
  EXPECT_FALSE(IsSettled(verdict));
}

TEST(DoubtVerdicts, AWordThatHoldsAnywayStays) {
  const std::vector<Sample> samples = OneSided(12, 1, true, Retried(ErrorCause::kTimeout, Arm::kSkill, 2));
  const StudentVerdict verdict = JudgeSamples(12, 1, samples);
  EXPECT_EQ(verdict.word, Verdict::kHelps);
  EXPECT_EQ(verdict.doubt, Doubt::kNone);
  EXPECT_THAT(verdict.lost_low, Optional(DoubleEq(10.0 / 12.0)));
}

TEST(DoubtVerdicts, ErrorsBeforeAnAnswerRaiseNone) {
  for (const ErrorCause cause : {ErrorCause::kRateLimit, ErrorCause::kUnreachable, ErrorCause::kOverloaded}) {
    const StudentVerdict verdict = JudgeSamples(10, 1, OneSided(10, 1, true, Retried(cause, Arm::kSkill, 10)));
    EXPECT_EQ(verdict.word, Verdict::kHelps) << ErrorCauseName(cause);
    EXPECT_FALSE(verdict.lost_low.has_value());
  }
}

TEST(DoubtVerdicts, AnUnknownCauseIsTakenForTheWorst) {
  const std::vector<Sample> samples = OneSided(10, 1, true, Retried(ErrorCause::kUnknown, Arm::kSkill, 7));
  EXPECT_EQ(JudgeSamples(10, 1, samples).doubt, Doubt::kErrors);
}

TEST(DoubtVerdicts, BaselineErrorsCountAsPassesAgainstHelps) {
  const std::vector<Sample> samples = OneSided(10, 1, true, Retried(ErrorCause::kTimeout, Arm::kBaseline, 7));
  const StudentVerdict verdict = JudgeSamples(10, 1, samples);
  EXPECT_EQ(verdict.doubt, Doubt::kErrors);
  EXPECT_THAT(verdict.lost_low, Optional(DoubleNear(0.3, 1e-9)));
}

TEST(DoubtVerdicts, HurtsIsTheMirrorImage) {
  const std::vector<Sample> samples = OneSided(10, 1, false, Retried(ErrorCause::kTimeout, Arm::kSkill, 7));
  const StudentVerdict verdict = JudgeSamples(10, 1, samples);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_EQ(verdict.without_doubt, Verdict::kHurts);
  EXPECT_THAT(verdict.lost_high, Optional(DoubleNear(-0.3, 1e-9)));
}

TEST(DoubtVerdicts, NoEffectMustHoldBothWays) {
  std::vector<Sample> samples;
  for (int round = 0; round < 60; ++round) {
    for (int i = 1; i <= 10; ++i) {
      const bool passed = (round + i) % 2 == 0;
      samples.push_back(OutcomeOf(i, Arm::kBaseline, round, passed));
      samples.push_back(OutcomeOf(i, Arm::kSkill, round, passed));
    }
  }
  ASSERT_EQ(JudgeSamples(10, 60, samples).word, Verdict::kNoEffect);
  for (int round = 0; round < 60; ++round) samples.push_back(LostTo(ErrorCause::kTimeout, 1, Arm::kSkill, round, true));
  const StudentVerdict verdict = JudgeSamples(10, 60, samples);
  EXPECT_EQ(verdict.doubt, Doubt::kErrors);
  EXPECT_EQ(verdict.without_doubt, Verdict::kNoEffect);
}

// A timeout at the end: the case is excluded, but comes back for the worst case.
TEST(DoubtVerdicts, ALostFinalAnswerCountsToo) {
  std::vector<Sample> samples = OneSided(8, 1, true, {});
  for (Sample& sample : samples) {
    if (sample.case_id == "case-8" && sample.arm == Arm::kSkill)
      sample = LostTo(ErrorCause::kTimeout, 8, Arm::kSkill, 0, false);
  }
  const StudentVerdict verdict = JudgeSamples(8, 1, samples);
  EXPECT_THAT(verdict.excluded, SizeIs(1));
  EXPECT_THAT(verdict.lift, Optional(1.0));
  EXPECT_THAT(verdict.lost_low, Optional(DoubleEq(7.0 / 8.0)));
}

TEST(DoubtVerdicts, TooManyExcludedCases) {
  std::vector<Sample> samples = OneSided(40, 1, true, {});
  const auto exclude = [&](int number) {
    for (Sample& sample : samples) {
      if (sample.case_id == "case-" + std::to_string(number) && sample.arm == Arm::kSkill)
        sample = LostTo(ErrorCause::kRejected, number, Arm::kSkill, 0, false);
    }
  };
  for (int number = 1; number <= 8; ++number) exclude(number);
  EXPECT_EQ(JudgeSamples(40, 1, samples).word, Verdict::kHelps) << "a fifth is allowed";
  exclude(9);
  const StudentVerdict verdict = JudgeSamples(40, 1, samples);
  EXPECT_EQ(verdict.word, Verdict::kUndecided);
  EXPECT_EQ(verdict.doubt, Doubt::kExcludedCases);
  EXPECT_EQ(verdict.without_doubt, Verdict::kHelps);
  EXPECT_FALSE(verdict.more_rounds.has_value());
}

// What --stop-when-decided asks must agree with what the finished run says.
TEST(DoubtVerdicts, ADoubtKeepsTheRunGoing) {
  const RunData data(MakeTestPlan(10, 3), OneSided(10, 1, true, Retried(ErrorCause::kTimeout, Arm::kSkill, 7)));
  EXPECT_FALSE(VerdictWatch(data, Arm::kBaseline).IsSettledAfter(1, 0));
  const RunData without(MakeTestPlan(10, 3), OneSided(10, 1, true, Retried(ErrorCause::kRateLimit, Arm::kSkill, 7)));
  EXPECT_TRUE(VerdictWatch(without, Arm::kBaseline).IsSettledAfter(1, 0));
}

TEST(DoubtName, IsPersisted) {
  EXPECT_STREQ(DoubtName(Doubt::kErrors), "errors");
  EXPECT_STREQ(DoubtName(Doubt::kExcludedCases), "excluded_cases");
}

}  // namespace
}  // namespace upskill
