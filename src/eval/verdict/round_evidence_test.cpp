// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/round_evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/plan_fixture.h"
#include "util/rng.h"

namespace upskill {
namespace {

Sample CellOf(int case_number, Arm arm, int round, bool passed) {
  Sample sample;
  sample.student = "fake";
  sample.case_id = "case-" + std::to_string(case_number);
  sample.arm = arm;
  sample.round = round;
  sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
  return sample;
}

void ExpectEqual(RoundEvidence& a, RoundEvidence& b) {
  ASSERT_EQ(a.rounds(), b.rounds());
  EXPECT_EQ(a.changes(), b.changes());
  EXPECT_EQ(a.HelpsRound(0.05), b.HelpsRound(0.05));
  EXPECT_EQ(a.HelpsRound(0.025), b.HelpsRound(0.025));
  EXPECT_EQ(a.HurtsRound(0.05), b.HurtsRound(0.05));
  EXPECT_EQ(a.Signs(0.05).critical(), b.Signs(0.05).critical());
  EXPECT_EQ(a.helps(), b.helps());
  EXPECT_EQ(a.most_hurts(), b.most_hurts());
  EXPECT_EQ(a.Sequence(0.05).low, b.Sequence(0.05).low);
}

TEST(RoundEvidence, UpdatesLikeAFreshOne) {
  const Plan plan = MakeTestPlan(6, 12);
  Rng rng(2);
  RunData data(plan);
  RoundEvidence growing(plan);
  for (int round = 0; round < 12; ++round) {
    for (int i = 1; i <= 6; ++i) {
      data.Add(CellOf(i, Arm::kBaseline, round, rng.Uniform() < 0.3));
      Sample sample = CellOf(i, Arm::kSkill, round, rng.Uniform() < 0.6);
      if (round == 7 && i == 2) sample.error = Error{ErrorKind::kUnavailable, "overloaded"};  // takes the case out
      data.Add(std::move(sample));
    }
    for (const int limit : {round + 1, (round + 1) / 2 + 1, round + 1}) {
      const std::vector<CompleteRounds> complete = FindCompleteRounds(data, Arm::kBaseline, limit);
      growing.Update(complete.front());
      RoundEvidence fresh(plan);
      fresh.Update(complete.front());
      ExpectEqual(growing, fresh);
    }
  }
  EXPECT_EQ(growing.units(), 5U);
}

// Of `copied` cases out of six, which gain or lose; the others vary without an effect on the outcome.
RoundEvidence WithCopies(int copied, bool gain) {
  const Plan plan = MakeTestPlan(6, 5);
  RunData data(plan);
  for (int round = 0; round < 5; ++round) {
    for (int i = 1; i <= 6; ++i) {
      for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
        Sample sample = CellOf(i, arm, round, i <= copied ? (arm == Arm::kSkill) == gain : round % 2 == 0);
        sample.response.text = i <= copied ? "copy" : "round " + std::to_string(round);
        data.Add(std::move(sample));
      }
    }
  }
  RoundEvidence evidence(plan);
  evidence.Update(FindCompleteRounds(data, Arm::kBaseline).front());
  return evidence;
}

TEST(RoundEvidence, WhatMayBeCopiedTellsOnceForAClaimAndAlwaysAgainstIt) {
  RoundEvidence most = WithCopies(4, true);
  EXPECT_TRUE(most.has_copies());
  EXPECT_EQ(most.Signs(0.05).reach(), 4);
  EXPECT_EQ(most.HelpsRound(0.05), 0);
  EXPECT_GT(most.PValues().helps, 0.05);
  EXPECT_DOUBLE_EQ(most.totals().lift(), 2.0 / 3.0) << "what was measured";
  EXPECT_LT(most.Sequence(0.05).low, 0.0);
  EXPECT_GT(most.PNoEffect(0.9), 0.05);
  RoundEvidence losing = WithCopies(4, false);
  EXPECT_EQ(losing.Signs(0.05).reach(), 20);
  EXPECT_EQ(losing.HurtsRound(0.05), 0);
  RoundEvidence few = WithCopies(3, true);  // short answers may well be equal
  EXPECT_FALSE(few.has_copies());
  EXPECT_GT(few.HelpsRound(0.05), 0);
}

TEST(RoundEvidence, AMinimalLiftIsDecidedByTheEProcess) {
  Plan plan = MakeTestPlan(9, 1);
  plan.verdict.min_lift = 0.2;
  RunData data(plan);
  for (int i = 1; i <= 9; ++i) {
    data.Add(CellOf(i, Arm::kBaseline, 0, false));
    data.Add(CellOf(i, Arm::kSkill, 0, true));
  }
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, Arm::kBaseline);
  RoundEvidence evidence(plan);
  evidence.Update(complete.front());
  EXPECT_EQ(evidence.HelpsRound(0.05), Evidence({9, 0, 0}, 0.2) >= 20.0 ? 1 : 0);
  EXPECT_DOUBLE_EQ(evidence.PValues().helps, 1.0 / Evidence({9, 0, 0}, 0.2));
}

}  // namespace
}  // namespace upskill
