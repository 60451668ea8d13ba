// SPDX-License-Identifier: Apache-2.0
#include "stats/spending.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

TEST(SpendingSchedule, SpendsNineTenthsOverThePlan) {
  const SpendingSchedule schedule(20);
  EXPECT_EQ(schedule.Until(0), 0.0);
  EXPECT_NEAR(schedule.Until(1), 0.9 * 0.0910282, 1e-6);   // 20^−0.8
  EXPECT_NEAR(schedule.Until(10), 0.9 * 0.5743492, 1e-6);  // 2^−0.8
  EXPECT_DOUBLE_EQ(schedule.Until(20), 0.9);
}

TEST(SpendingSchedule, SpendsLittleInTheFirstRoundsOfAShortPlan) {
  const SpendingSchedule schedule(10);
  EXPECT_NEAR(schedule.Until(1), 0.9 * 0.0316228, 1e-6);  // 10^−1.5
  EXPECT_NEAR(schedule.Until(5), 0.9 * 0.3535534, 1e-6);  // 2^−1.5
  EXPECT_DOUBLE_EQ(schedule.Until(10), 0.9);
}

TEST(SpendingSchedule, KeepsMoreAfterAShortPlan) {
  EXPECT_DOUBLE_EQ(SpendingSchedule(1).Until(1), 0.7);
  EXPECT_DOUBLE_EQ(SpendingSchedule(1).Until(2), 0.85);
  EXPECT_NEAR(SpendingSchedule(2).Until(2), 0.8153, 1e-4);  // 1 − 0.3/2^0.7
  EXPECT_DOUBLE_EQ(SpendingSchedule(5).Until(5), 0.9);
}

TEST(SpendingSchedule, SpendsTheReserveInStagesThatDouble) {
  const SpendingSchedule schedule(8);
  EXPECT_DOUBLE_EQ(schedule.Until(12), 0.9 + 0.1 * 0.25);
  EXPECT_DOUBLE_EQ(schedule.Until(16), 0.9 + 0.1 * 0.5);
  EXPECT_DOUBLE_EQ(schedule.Until(32), 0.9 + 0.1 * 0.75);
  EXPECT_DOUBLE_EQ(schedule.Until(48), 0.9 + 0.1 * 0.8125);
}

TEST(SpendingSchedule, NeverSpendsMoreThanAll) {
  for (const bool one_may_be_all : {false, true}) {
    for (const int planned : {1, 2, 3, 7, 100}) {
      const SpendingSchedule schedule(planned, one_may_be_all);
      double before = 0.0;
      for (int round = 1; round <= 5000; ++round) {
        const double now = schedule.Until(round);
        ASSERT_GE(now, before) << planned << " " << round;
        before = now;
      }
      EXPECT_LT(before, 1.0);
    }
  }
}

TEST(SpendingSchedule, SpendsHalfOnAFirstRoundThatMayBeAll) {
  EXPECT_DOUBLE_EQ(SpendingSchedule(20, true).Until(1), 0.45);
  EXPECT_DOUBLE_EQ(SpendingSchedule(20, true).Until(20), 0.9);
  EXPECT_DOUBLE_EQ(SpendingSchedule(1, true).Until(1), 0.9);
}

double Total(const std::vector<ScheduledLook>& looks) {
  double total = 0.0;
  for (const ScheduledLook& look : looks) total += look.share;
  return total;
}

TEST(ScheduledLooks, AreTheFirstTheMiddleAndTheLastRound) {
  const std::vector<ScheduledLook> looks = ScheduledLooks(20, 39);
  ASSERT_EQ(looks.size(), 3U);
  EXPECT_EQ(looks[0].round, 1);
  EXPECT_EQ(looks[1].round, 10);
  EXPECT_EQ(looks[2].round, 20);
  EXPECT_DOUBLE_EQ(Total(looks), 0.9);
}

TEST(ScheduledLooks, DoubleBeyondThePlan) {
  const std::vector<ScheduledLook> looks = ScheduledLooks(3, 100000);
  EXPECT_EQ(looks[2].round, 3);
  EXPECT_EQ(looks[3].round, 6);
  EXPECT_EQ(looks[4].round, 12);
  EXPECT_LE(Total(looks), 1.0);
}

TEST(ScheduledLooks, FewRoundsHaveFewer) {
  EXPECT_EQ(ScheduledLooks(1, 1).size(), 1U);
  EXPECT_DOUBLE_EQ(Total(ScheduledLooks(1, 1)), 0.9);
  EXPECT_EQ(ScheduledLooks(2, 2).size(), 2U);
  EXPECT_DOUBLE_EQ(Total(ScheduledLooks(2, 2)), 0.9);
  EXPECT_EQ(ScheduledLooks(20, 9).size(), 1U);
  EXPECT_TRUE(ScheduledLooks(20, 0).empty());
}

}  // namespace
}  // namespace upskill
