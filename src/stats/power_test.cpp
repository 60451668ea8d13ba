// SPDX-License-Identifier: Apache-2.0
#include "stats/power.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

std::vector<CaseRates> Equal(std::size_t cases, double without, double with) {
  return std::vector<CaseRates>(cases, CaseRates{without, with});
}

TEST(SimulateRule, SeldomErrsWithoutALift) {
  const RuleOutcome outcome = SimulateRule(Equal(12, 0.5, 0.5), {20}, 1000, 1);
  EXPECT_LT(outcome.helps, 0.065);  // 4.5 % and three standard errors
  EXPECT_LT(outcome.hurts, 0.065);
  EXPECT_GT(outcome.mean_rounds, 18.0);
}

TEST(SimulateRule, FindsALiftOf25Points) {
  const RuleOutcome outcome = SimulateRule(Equal(12, 0.4, 0.65), {50}, 1000, 1);
  EXPECT_GT(outcome.helps, 0.99);
  EXPECT_LT(outcome.hurts, 0.001);
  EXPECT_NEAR(outcome.mean_rounds, 5.0, 1.0);
}

TEST(SimulateRule, IsSymmetric) {
  const RuleOutcome outcome = SimulateRule(Equal(12, 0.65, 0.4), {50}, 500, 1);
  EXPECT_GT(outcome.hurts, 0.99);
  EXPECT_LT(outcome.helps, 0.01);
}

TEST(SimulateRule, IsRepeatable) {
  const RuleOutcome a = SimulateRule(Equal(5, 0.4, 0.6), {10}, 200, 7);
  const RuleOutcome b = SimulateRule(Equal(5, 0.4, 0.6), {10}, 200, 7);
  EXPECT_EQ(a.helps, b.helps);
  EXPECT_EQ(a.mean_rounds, b.mean_rounds);
}

TEST(SimulateRule, FindsThatThereIsNoEffect) {
  SequentialRule rule{200};
  rule.margin = 0.2;
  const RuleOutcome outcome = SimulateRule(Equal(10, 0.9, 0.9), rule, 100, 1);
  EXPECT_GT(outcome.no_effect, 0.9);
}

TEST(SimulateRule, AMinimalLiftAsksForMore) {
  SequentialRule rule{20};
  const double any = SimulateRule(Equal(10, 0.4, 0.6), rule, 300, 1).helps;
  rule.min_lift = 0.2;
  const double above_20 = SimulateRule(Equal(10, 0.4, 0.6), rule, 300, 1).helps;
  EXPECT_GT(any, 0.9);
  EXPECT_LT(above_20, 0.06);
}

TEST(SimulateRule, ManyPairsTakeTheExpectedCriticalValues) {
  // 60 × 20 pairs, of which half differ: more than are computed exactly for each run. Without a lift the level holds,
  // and the power is that of a run of half as many rounds or more.
  const double none = SimulateRule(Equal(60, 0.5, 0.5), {20}, 1000, 1).helps;
  EXPECT_LT(none, 0.065);  // 4.5 % and three standard errors
  EXPECT_GT(none, 0.015);
  EXPECT_GT(SimulateRule(Equal(60, 0.45, 0.55), {20}, 200, 1).helps, 0.9);
}

TEST(WithLift, EveryCaseGainsTheSameShareOfWhatItLacks) {
  const std::vector<CaseRates> cases = WithLift({0.0, 0.5, 1.0}, 0.25);
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_DOUBLE_EQ(cases[0].with, 0.5);
  EXPECT_DOUBLE_EQ(cases[1].with, 0.75);
  EXPECT_DOUBLE_EQ(cases[2].with, 1.0);
  EXPECT_DOUBLE_EQ(WithLift({0.5}, 0.9)[0].with, 1.0);  // no more than there is
}

TEST(DetectableLift, FallsWithRounds) {
  const auto few = DetectableLift(std::vector<double>(10, 0.4), {2}, 0.8, 300);
  const auto many = DetectableLift(std::vector<double>(10, 0.4), {20}, 0.8, 300);
  ASSERT_TRUE(few.has_value());
  ASSERT_TRUE(many.has_value());
  EXPECT_GT(*few, *many);
  EXPECT_GT(*many, 0.05);
  EXPECT_FALSE(DetectableLift({0.9, 0.9, 0.9}, {1}).has_value());
  EXPECT_FALSE(DetectableLift({1.0, 1.0, 1.0}, {1}).has_value());
}

TEST(RoundsForNoEffect, AgreesWithTheSimulation) {
  SequentialRule rule{200};
  rule.margin = 0.2;
  const std::vector<double> baseline(10, 0.8);
  const auto rounds = RoundsForNoEffect(baseline, rule);
  ASSERT_TRUE(rounds.has_value());
  rule.rounds = *rounds;
  EXPECT_NEAR(SimulateRule(WithLift(baseline, 0.0), rule, 300, 1).no_effect, 0.8, 0.12);
}

TEST(RoundsForNoEffect, DependsOnTheMargin) {
  SequentialRule rule;
  const std::vector<double> baseline(12, 0.5);
  EXPECT_FALSE(RoundsForNoEffect(baseline, rule).has_value());
  rule.margin = 0.05;
  const auto narrow = RoundsForNoEffect(baseline, rule);
  rule.margin = 0.2;
  const auto wide = RoundsForNoEffect(baseline, rule);
  ASSERT_TRUE(narrow.has_value());
  ASSERT_TRUE(wide.has_value());
  EXPECT_GT(*narrow, 8 * *wide);
  EXPECT_FALSE(RoundsForNoEffect(baseline, rule, 0.8, *wide - 1).has_value());
}

TEST(CasesForGeneral, AreFewerForLargeLifts) {
  const SequentialRule rule{5};
  const std::vector<double> baseline(12, 0.3);
  const auto large = CasesForGeneral(baseline, 0.6, rule);
  const auto small = CasesForGeneral(baseline, 0.25, rule);
  ASSERT_TRUE(large.has_value());
  ASSERT_TRUE(small.has_value());
  EXPECT_GE(*large, 6);
  EXPECT_GT(*small, *large);
  EXPECT_LT(*small, 60);
  EXPECT_FALSE(CasesForGeneral(baseline, 0.02, rule, 0.8, 20, 1, 30).has_value());
  EXPECT_FALSE(CasesForGeneral(baseline, 0.0, rule).has_value());
}

}  // namespace
}  // namespace upskill
