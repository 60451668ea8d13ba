// SPDX-License-Identifier: Apache-2.0
#include "stats/stage_wise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "stats/sign_flip_sequence.h"

namespace upskill {
namespace {

using RoundChanges = std::vector<std::vector<double>>;

std::vector<std::int64_t> Critical(const RoundChanges& rounds, int planned) {
  SignFlipSequence sequence(0.05, SpendingSchedule(planned));
  for (const std::vector<double>& changes : rounds) sequence.AddRound(changes);
  return sequence.critical();
}

TEST(StageWiseLift, OneRoundIsTheMidPointOfTheBinomial) {
  const RoundChanges rounds = {{1, 1, 1, -1, 0, 0}};
  const auto estimate = StageWiseLift(rounds, Critical(rounds, 1), 6);
  ASSERT_TRUE(estimate.has_value());
  // θ with θ⁴ + 2θ³(1 − θ) = 1/2 is 0.727; 4 of 6 pairs differ. The interval is Clopper and Pearson's for 3 of 4
  // (scipy.stats.binomtest: 0.1941, 0.9937).
  EXPECT_NEAR(estimate->lift, (2 * 0.72996 - 1) * 4 / 6, 5e-3);
  EXPECT_NEAR(estimate->interval.low, (2 * 0.1941204 - 1) * 4 / 6, 1e-5);
  EXPECT_NEAR(estimate->interval.high, (2 * 0.9936905 - 1) * 4 / 6, 1e-5);
}

TEST(StageWiseLift, IsOddInTheSign) {
  const RoundChanges rounds = {{1, 1, -1}, {1, 0, 1}, {0.5, 1, 1}};
  RoundChanges mirrored = rounds;
  for (std::vector<double>& round : mirrored) {
    for (double& change : round) change = -change;
  }
  const auto up = StageWiseLift(rounds, Critical(rounds, 6), 4);
  const auto down = StageWiseLift(mirrored, Critical(mirrored, 6), 4);
  ASSERT_TRUE(up.has_value());
  ASSERT_TRUE(down.has_value());
  EXPECT_NEAR(up->lift, -down->lift, 1e-5);
  EXPECT_NEAR(up->interval.low, -down->interval.high, 1e-5);
}

TEST(StageWiseLift, NeedsUnitsThatDiffer) {
  EXPECT_FALSE(StageWiseLift({}, {}, 3).has_value());
  EXPECT_FALSE(StageWiseLift({{0, 0}}, Critical({{0, 0}}, 1), 2).has_value());
  EXPECT_FALSE(StageWiseLift({std::vector<double>(5000, 1.0)}, {9999}, 5000).has_value());
}

struct Stopped {
  double lift = 0.0;  // as observed
  StageWiseEstimate estimate;
};

// Runs that stop when decided or after 20 rounds: 12 cases, 40 → 50 %.
std::vector<Stopped> StoppedRuns(int runs) {
  std::mt19937_64 random(11);
  const auto passes = [&](double rate) { return static_cast<double>(random() >> 11U) * 0x1.0p-53 < rate ? 1.0 : 0.0; };
  std::vector<Stopped> all;
  for (int run = 0; run < runs; ++run) {
    SignFlipSequence sequence(0.05, SpendingSchedule(20));
    RoundChanges rounds;
    while (rounds.size() < 20 && sequence.helps_round() == 0 && sequence.hurts_round() == 0) {
      std::vector<double>& changes = rounds.emplace_back(12);
      for (double& change : changes) change = passes(0.5) - passes(0.4);
      sequence.AddRound(changes);
    }
    const double pairs = 12.0 * static_cast<double>(rounds.size());
    all.push_back(
        {sequence.sum() / pairs, StageWiseLift(rounds, sequence.critical(), 12).value_or(StageWiseEstimate{})});
  }
  return all;
}

// The truth is +10 points. What was observed is above it more often than below; the estimate is about as often above.
TEST(StageWiseLift, IsMedianUnbiasedAfterStopping) {
  const std::vector<Stopped> runs = StoppedRuns(300);
  const auto share = [&](auto&& is) {
    return static_cast<double>(std::count_if(runs.begin(), runs.end(), is)) / static_cast<double>(runs.size());
  };
  EXPECT_GT(share([](const Stopped& run) { return run.lift > 0.1; }), 0.6);
  EXPECT_NEAR(share([](const Stopped& run) { return run.estimate.lift > 0.1; }), 0.5, 0.09);
  EXPECT_GT(share([](const Stopped& run) { return run.estimate.interval.Contains(0.1); }), 0.92);
}

}  // namespace
}  // namespace upskill
