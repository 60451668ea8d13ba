// SPDX-License-Identifier: Apache-2.0
#include "stats/loss_guard.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

namespace upskill {
namespace {

using State = LossGuard::State;

TEST(LossGuard, CountsAnswersNotOnlyPairsThatDiffer) {
  EXPECT_NEAR(LossGuard::PValue(6, 4), 79.0 / 4096.0, 1e-12);
  EXPECT_EQ(LossGuard::PValue(6, 0), 1.0);
  EXPECT_EQ(LossGuard::PValue(6, -3), 1.0);
  EXPECT_NEAR(LossGuard::PValue(6, 6), 1.0 / 4096.0, 1e-12);
}

TEST(LossGuard, LooksAgainWhileALossIsLikely) {
  const LossGuard guard(0.05, true);
  EXPECT_EQ(guard.At(1, 6, 4), State::kShown);
  EXPECT_EQ(guard.At(1, 12, 5), State::kShown);
  EXPECT_EQ(guard.At(1, 12, 4), State::kOpen);
  EXPECT_EQ(guard.At(1, 12, 3), State::kNotShown);
  EXPECT_EQ(guard.At(1, 12, -5), State::kNotShown);
  EXPECT_EQ(guard.At(3, 12, 5), State::kOpen) << "later looks spend less";
}

TEST(LossGuard, OneLookHasAllOfAlpha) {
  const LossGuard guard(0.05, false);
  EXPECT_EQ(guard.At(1, 12, 5), State::kShown);
  EXPECT_EQ(guard.At(1, 12, 4), State::kNotShown);
  EXPECT_EQ(guard.At(1, 1, 1), State::kNotShown);
}

// The bound on false alarms must hold for cases that differ, however they do.
TEST(LossGuard, FalseAlarmsAreRareWhateverTheCasesAre) {
  const std::vector<std::vector<double>> suites = {{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5},
                                                   {1.0, 1.0, 0.9, 0.7, 0.5, 0.5, 0.3, 0.0},
                                                   {0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95, 0.95}};
  for (const bool looks_again : {true, false}) {
    const LossGuard guard(0.05, looks_again);
    for (const std::vector<double>& rates : suites) {
      std::mt19937 random(7);
      int alarms = 0;
      constexpr int kRuns = 20'000;
      for (int run = 0; run < kRuns; ++run) {
        std::int64_t net = 0;
        bool alarm = false;
        for (int round = 1; round <= 4 && !alarm; ++round) {
          for (const double rate : rates) {
            std::bernoulli_distribution passes(rate);
            net += (passes(random) ? 1 : 0) - (passes(random) ? 1 : 0);
          }
          if (looks_again || round == 4)
            alarm = guard.At(looks_again ? round : 1, round * static_cast<std::int64_t>(rates.size()), net) ==
                    State::kShown;
        }
        alarms += alarm ? 1 : 0;
      }
      EXPECT_LE(alarms, kRuns * 0.053);
    }
  }
}

TEST(LossGuard, ChancesAgreeWithCounting) {
  // One round of two cases that always passed: shown only if both are lost (p = 1/16).
  EXPECT_NEAR(LossGuard(0.07, false).ChanceToShow(2, 1, 1.0, 0.5), 0.25, 1e-12);
  EXPECT_NEAR(LossGuard(0.05, false).ChanceToShow(2, 1, 1.0, 1.0), 0.0, 1e-12);
  EXPECT_NEAR(LossGuard(0.05, false).ChanceToShow(2, 2, 1.0, 1.0), 1.0, 1e-12);
  EXPECT_NEAR(LossGuard(0.05, true).ChanceToShow(2, 30, 1.0, 1.0), 1.0, 1e-9) << "after six rounds";
  EXPECT_NEAR(LossGuard(0.05, true).ChanceToShow(2, 1, 1.0, 1.0), 0.0, 1e-9);
}

TEST(LossGuard, FiftyPointsAreFoundWithFortyAnswers) {
  const LossGuard guard(0.05, true);
  EXPECT_GE(guard.ChanceToShow(20, 1, 0.87, 0.5), 0.9);
  EXPECT_GE(guard.ChanceToShow(8, 3, 0.87, 0.5), 0.85);
  EXPECT_LE(guard.ChanceToShow(20, 30, 0.87, 0.0), 0.01);
}

TEST(LossGuard, NamesTheLossThatItFinds) {
  const LossGuard guard(0.05, true);
  const auto small = guard.FindableLoss(30, 2, 0.9);
  const auto large = guard.FindableLoss(12, 2, 0.9);
  ASSERT_TRUE(small && large);
  EXPECT_LT(*small, *large);
  EXPECT_GE(guard.ChanceToShow(12, 2, 0.9, *large), 0.9);
  EXPECT_LT(guard.ChanceToShow(12, 2, 0.9, *large - 0.01), 0.9);
  EXPECT_FALSE(guard.FindableLoss(1, 1, 1.0)) << "not even everything";
  EXPECT_FALSE(guard.FindableLoss(12, 1, 0.0)) << "nothing is left to lose";
  EXPECT_LE(*guard.FindableLoss(100'000, 3, 0.9), 0.1) << "in time";
}

}  // namespace
}  // namespace upskill
