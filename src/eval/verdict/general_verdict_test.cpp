// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/general_verdict.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/plan_fixture.h"
#include "util/rng.h"

namespace upskill {
namespace {

// Adds a round to a run: for each case, wins − losses in {−1, 0, 1}.
void AddRoundTo(RunData& data, int round, const std::vector<int>& differences) {
  for (std::size_t i = 0; i < differences.size(); ++i) {
    for (const Arm arm : {Arm::kBaseline, Arm::kSkill}) {
      Sample sample;
      sample.student = "fake";
      sample.case_id = "case-" + std::to_string(i + 1);
      sample.arm = arm;
      sample.round = round;
      const bool passed = differences[i] == (arm == Arm::kSkill ? 1 : -1);
      sample.checks = {{"check", passed ? Outcome::kPass : Outcome::kFail, ""}};
      data.Add(std::move(sample));
    }
  }
}

GeneralPValues PValuesAfter(const Plan& plan, const std::vector<std::vector<int>>& rounds) {
  RunData data(plan);
  for (std::size_t round = 0; round < rounds.size(); ++round) AddRoundTo(data, static_cast<int>(round), rounds[round]);
  const std::vector<CompleteRounds> complete = FindCompleteRounds(data, Arm::kBaseline);
  RoundEvidence evidence(plan);
  evidence.Update(complete.front());
  return GeneralPValuesOf(evidence);
}

TEST(GeneralPValues, OneLookHasThePlannedShare) {
  const GeneralPValues p = PValuesAfter(MakeTestPlan(8, 1), {std::vector<int>(8, 1)});
  EXPECT_NEAR(p.helps, 1.0 / 256.0 / 0.9, 1e-9);
  EXPECT_GE(p.hurts, 1.0);
}

TEST(GeneralPValues, NeedSixInputs) {
  EXPECT_EQ(PValuesAfter(MakeTestPlan(5, 1), {std::vector<int>(5, 1)}).helps, 1.0);
  Plan plan = MakeTestPlan(10, 1);
  for (std::size_t i = 0; i < 10; ++i) plan.suite.cases[i].input = std::to_string(i / 2);
  EXPECT_EQ(PValuesAfter(plan, {std::vector<int>(10, 1)}).helps, 1.0);
}

TEST(GeneralPValues, CopiesOfRoundsAddNoEvidence) {
  const std::vector<int> differences = {1, 1, 1, 0, 0, 1, 0, 1};
  const GeneralPValues one = PValuesAfter(MakeTestPlan(8, 4), std::vector<std::vector<int>>(1, differences));
  const GeneralPValues four = PValuesAfter(MakeTestPlan(8, 4), std::vector<std::vector<int>>(4, differences));
  // The share of the last look over that of the first.
  EXPECT_NEAR(one.helps / four.helps, 0.5 / 0.2, 1e-9);
}

// Texts without an average effect: each case gains or loses for good, and only few do anything else.
TEST(GeneralPValues, SeldomErrWithoutAnAverageEffect) {
  Rng rng(4);
  int found = 0;
  for (int run = 0; run < 300; ++run) {
    std::vector<int> differences(12);
    for (int& difference : differences) difference = rng.Uniform() < 0.5 ? 1 : -1;
    const GeneralPValues p = PValuesAfter(MakeTestPlan(12, 3), std::vector<std::vector<int>>(3, differences));
    found += p.helps <= 0.05 || p.hurts <= 0.05 ? 1 : 0;
  }
  EXPECT_LE(found, 28);  // 4.5 %, and four standard errors
}

}  // namespace
}  // namespace upskill
