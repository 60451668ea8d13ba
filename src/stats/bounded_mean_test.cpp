// SPDX-License-Identifier: Apache-2.0
#include "stats/bounded_mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace upskill {
namespace {

// For values xᵢ >= 0, P(Σ Eᵢ xᵢ <= E₀) is the Laplace transform at 1: Π 1/(1 + xᵢ).
TEST(BoundedMeanTest, ClosedFormForGains) {
  for (const std::size_t n : {1U, 6U, 12U, 50U, 400U}) {
    EXPECT_NEAR(BoundedMeanTest(std::vector<double>(n, 0.25)), std::pow(1.25, -static_cast<double>(n)), 1e-12) << n;
    EXPECT_NEAR(BoundedMeanTest(std::vector<double>(n, 1.0)), std::pow(2.0, -static_cast<double>(n)), 1e-12) << n;
  }
  EXPECT_NEAR(BoundedMeanTest({0.0, 0.5, 0.1, 1.0}), 1.0 / (1.5 * 1.1 * 2.0), 1e-12);
}

// 4 million random weightings (numpy 2.4): 0.2162 ± 0.0002.
TEST(BoundedMeanTest, AgreesWithSampledWeights) {
  EXPECT_NEAR(BoundedMeanTest({0.1, 0.5, -0.2, 0.3, 0.4, 0.0, 0.2, 0.6}), 0.2160, 6e-4);
}

TEST(BoundedMeanTest, NothingGainedIsNoEvidence) {
  EXPECT_EQ(BoundedMeanTest({}), 1.0);
  EXPECT_NEAR(BoundedMeanTest({0.0, 0.0, 0.0}), 1.0, 1e-12);
  EXPECT_NEAR(BoundedMeanTest({-1.0, -0.5}), 1.0, 1e-12);
}

TEST(BoundedMeanTest, GrowsWithTheMeanThatIsTested) {
  const std::vector<double> values = {0.1, 0.5, -0.2, 0.3, 0.4, 0.0, 0.2, 0.6};
  double before = 0.0;
  for (double mean = -1.0; mean <= 1.0; mean += 0.05) {
    const double now = BoundedMeanTest(values, mean);
    EXPECT_GE(now, before - 1e-12);
    before = now;
  }
}

// Cases that mostly gain a little and sometimes lose everything, with mean 0: 12 cases show gains only with probability
// 0.9^12 = 28 %, in which a test of signs or ranks would reject.
TEST(BoundedMeanTest, AllowsForRareLosses) { EXPECT_GT(BoundedMeanTest(std::vector<double>(12, 1.0 / 9.0)), 0.28); }

}  // namespace
}  // namespace upskill
