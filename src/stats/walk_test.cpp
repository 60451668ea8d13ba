// SPDX-License-Identifier: Apache-2.0
#include "stats/walk.h"

#include <gtest/gtest.h>

#include <boost/math/distributions/binomial.hpp>
#include <cmath>

namespace upskill {
namespace {

// Of `steps` fair or unfair coins, the probability that the sum is at least `sum`.
double BinomialTail(int steps, double up, int sum) {
  const double least_ups = std::ceil((sum + steps) / 2.0);
  if (least_ups <= 0.0) return 1.0;
  if (least_ups > steps) return 0.0;
  return boost::math::cdf(boost::math::complement(boost::math::binomial(steps, up), least_ups - 1.0));
}

TEST(Walk, UnitStepsAreABinomialDistribution) {
  for (const double up : {0.5, 0.3, 0.0, 1.0}) {
    for (const int steps : {0, 1, 7, 8, 9, 15, 16, 17, 100, 1003}) {
      Walk walk(up);
      const double cut = walk.UnitSteps(steps);
      EXPECT_LT(cut, 1e-14);
      for (int sum = -steps - 1; sum <= steps + 1; ++sum)
        ASSERT_NEAR(walk.MassFrom(sum), BinomialTail(steps, up, sum), 1e-13) << up << " " << steps << " " << sum;
    }
  }
}

TEST(Walk, BlocksOfUnitStepsAreTheStepsThatTheyStandFor) {
  Walk blocks(0.4, 3);
  Walk singles(0.4, 3);
  double cut_of_blocks = 0.0;
  double cut_of_singles = 0.0;
  for (int round = 0; round < 60; ++round) {
    const int steps = round % 23;
    cut_of_blocks += blocks.UnitSteps(steps);
    for (int i = 0; i < steps; ++i) {
      singles.Step(1);
      cut_of_singles += singles.CutNegligible();
    }
    cut_of_blocks += blocks.CutTopWithin(1e-3) + blocks.CutUpTo(-40);
    cut_of_singles += singles.CutTopWithin(1e-3) + singles.CutUpTo(-40);
    ASSERT_EQ(blocks.end(), singles.end()) << round;
    for (std::int64_t sum = -300; sum <= 300; ++sum)
      ASSERT_NEAR(blocks.MassFrom(sum), singles.MassFrom(sum), 1e-13) << round << " " << sum;
  }
  EXPECT_NEAR(cut_of_blocks, cut_of_singles, 1e-12);
}

TEST(Walk, AWalkOfWhichNothingIsLeftStaysEmpty) {
  Walk walk;
  EXPECT_DOUBLE_EQ(walk.CutFrom(0), 1.0);
  EXPECT_EQ(walk.UnitSteps(17), 0.0);
  EXPECT_EQ(walk.MassFrom(-100), 0.0);
}

}  // namespace
}  // namespace upskill
