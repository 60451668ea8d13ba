// SPDX-License-Identifier: Apache-2.0
#include "stats/exact_tests.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

// Binomial tails in closed form: 79/4096, 11/1024.
TEST(SignTest, CountsCoins) {
  EXPECT_NEAR(SignTest(10, 2), 79.0 / 4096.0, 1e-12);
  EXPECT_NEAR(SignTest(9, 1), 11.0 / 1024.0, 1e-12);
  EXPECT_EQ(SignTest(0, 0), 1.0);
}

// A. Agresti, Categorical Data Analysis, approval of the Prime Minister: 150 changed one way, 86 the other. The exact p
// is from the binomial distribution (scipy.stats.binomtest).
TEST(SignTest, ApprovalOfThePrimeMinister) {
  EXPECT_NEAR(SignTest(150, 86), 3.7159361395713866e-05 / 2.0, 1e-14);  // the published p is two-sided
}

// Darwin's maize, as analysed by R. A. Fisher (1935): of 2^15 = 32,768 sign patterns, 863 give a sum of 314 or more.
TEST(SignFlipTest, FishersAnalysisOfDarwinsMaize) {
  const auto p = SignFlipTest({49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48});
  ASSERT_TRUE(p.has_value());
  EXPECT_NEAR(*p, 863.0 / 32768.0, 1e-12);
}

TEST(SignFlipTest, EqualsTheSignTestForSinglePairs) {
  EXPECT_NEAR(*SignFlipTest({1, 1, 1, 1, 1, 1, 1, 1, 1, -1, 0, 0}), 11.0 / 1024.0, 1e-12);
  EXPECT_EQ(*SignFlipTest({}), 1.0);
  EXPECT_EQ(*SignFlipTest({0, 0}), 1.0);
}

TEST(SignFlipTest, RefusesWhatWouldTakeTooLong) { EXPECT_FALSE(SignFlipTest({std::int64_t{1} << 40, 1}).has_value()); }

}  // namespace
}  // namespace upskill
