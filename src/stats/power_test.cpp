// SPDX-License-Identifier: Apache-2.0
#include "stats/power.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

std::vector<CaseRates> Equal(std::size_t cases, double without, double with) {
  return std::vector<CaseRates>(cases, CaseRates{without, with});
}

TEST(SimulateRule, SeldomErrsWithoutALift) {
  const RuleOutcome outcome = SimulateRule(Equal(12, 0.5, 0.5), {50}, 2000, 1);
  EXPECT_LT(outcome.helps, 0.05);
  EXPECT_LT(outcome.hurts, 0.05);
  EXPECT_GT(outcome.mean_rounds, 45.0);
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

TEST(DetectableLift, FallsWithRounds) {
  const auto few = DetectableLift(10, 0.4, {2}, 0.8, 300);
  const auto many = DetectableLift(10, 0.4, {20}, 0.8, 300);
  ASSERT_TRUE(few.has_value());
  ASSERT_TRUE(many.has_value());
  EXPECT_GT(*few, *many);
  EXPECT_GT(*many, 0.05);
  EXPECT_FALSE(DetectableLift(3, 0.9, {1}).has_value());
  EXPECT_FALSE(DetectableLift(3, 1.0, {1}).has_value());
}

}  // namespace
}  // namespace upskill
