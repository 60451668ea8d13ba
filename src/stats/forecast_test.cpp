// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast.h"

#include <gtest/gtest.h>

#include <cmath>

namespace upskill {
namespace {

SpendingSchedule Twenty() { return SpendingSchedule(20); }

TEST(ForecastRounds, SaysNothingWithoutUnitsThatDiffer) {
  EXPECT_FALSE(ForecastRounds({3, 0.0, 0.0}, Twenty(), 0.05, 0.05).has_value());
  EXPECT_FALSE(ForecastRounds({0, 0.0, 0.0}, Twenty(), 0.05, 0.05).has_value());
}

TEST(ForecastRounds, OneMoreRoundOfWinsIsEnough) {
  EXPECT_EQ(ForecastRounds({1, 4.0, 4.0}, SpendingSchedule(3), 0.05, 0.05), 1);
}

TEST(ForecastRounds, SmallLiftsTakeLonger) {
  const auto large = ForecastRounds({4, 10.0, 24.0}, Twenty(), 0.05, 0.05);
  const auto small = ForecastRounds({4, 5.0, 24.0}, Twenty(), 0.05, 0.05);
  ASSERT_TRUE(large.has_value());
  ASSERT_TRUE(small.has_value());
  EXPECT_LT(*large, *small);
}

TEST(ForecastRounds, CountsBeyondThePlan) {
  const auto more = ForecastRounds({3, 5.0, 18.0}, SpendingSchedule(3), 0.05, 0.05);
  ASSERT_TRUE(more.has_value());
  EXPECT_GT(*more, 1);
}

TEST(ForecastRounds, HoldsForThousandsOfUnits) {
  EXPECT_TRUE(ForecastRounds({20, 150.0, 8000.0}, SpendingSchedule(100), 0.005, 0.005).has_value());
}

TEST(IsFutile, EndsARunWhoseRestCantDecide) {
  EXPECT_TRUE(IsFutile({18, 0.0, 90.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_FALSE(IsFutile({18, 18.0, 90.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_FALSE(IsFutile({18, -18.0, 90.0}, Twenty(), 20, 0.05, 0.05));
}

// Conditional power at the detectable lift, by hand: critical value z of 4.5 %, 1.695; information 0.6; B-value b:
// Φ((b + (1.695 + 0.842)·0.4 − 1.695)/√0.4), which is 30 % at b = 0.349. Sum: b·√(rate·20).
TEST(IsFutile, AsksForAConditionalPowerOfThirtyPercent) {
  const double unit = std::sqrt(5.0 * 20.0);
  EXPECT_TRUE(IsFutile({12, 0.33 * unit, 60.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_FALSE(IsFutile({12, 0.36 * unit, 60.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_TRUE(IsFutile({12, 0.36 * unit, 60.0}, Twenty(), 20, 0.005, 0.005)) << "less is left of alpha";
}

TEST(IsFutile, EndsARunInWhichNothingDiffers) {
  EXPECT_TRUE(IsFutile({12, 0.0, 0.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_FALSE(IsFutile({8, 0.0, 0.0}, Twenty(), 20, 0.05, 0.05));
}

TEST(IsFutile, WaitsWhileMuchIsLeft) {
  EXPECT_FALSE(IsFutile({4, 0.0, 24.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_FALSE(IsFutile({1, 0.0, 6.0}, Twenty(), 20, 0.05, 0.05));
  EXPECT_FALSE(IsFutile({20, 0.0, 100.0}, Twenty(), 20, 0.05, 0.05));  // nothing is left to save
}

}  // namespace
}  // namespace upskill
