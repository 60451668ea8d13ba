// SPDX-License-Identifier: Apache-2.0
#include "stats/drift.h"

#include <gmock/gmock.h>

#include "util/rng.h"

namespace upskill {
namespace {

using ::testing::DoubleNear;

// The expected values are those of scipy 1.17: mannwhitneyu(method="exact") of the rounds that passed and those that
// failed for one case, and all combinations counted for several.
TEST(DriftTest, OneCaseIsTheRankSumTest) {
  EXPECT_THAT(DriftTest({{false, false, false, true, false, true, true, true}}),
              DoubleNear(0.05714285714285714, 1e-12));
  EXPECT_THAT(DriftTest({{true, true, false, true, false, false, false, true, false, false}}),
              DoubleNear(0.17142857142857143, 1e-12));
}

TEST(DriftTest, CasesAddUp) {
  EXPECT_THAT(DriftTest({{false, false, true, true},
                         {false, true, false, true},
                         {false, false, false, true},
                         {true, true, true, true},
                         {false, true, true, true},
                         {true, false, true, true}}),
              DoubleNear(0.019965277777777776, 1e-12));
}

TEST(DriftTest, ManyAnswersByTheNormalApproximation) {
  std::vector<CaseSeries> cases(300, CaseSeries(40));
  for (int i = 0; i < 300; ++i) {
    for (int r = 0; r < 40; ++r)
      cases[static_cast<std::size_t>(i)][static_cast<std::size_t>(r)] = (i * 7 + r * 3) % 11 < 3 + (r % 20) / 10;
  }
  EXPECT_THAT(DriftTest(cases), DoubleNear(4.900181300244813e-06, 1e-12));  // z = 4.569
}

TEST(DriftTest, SaysNothingWithoutVariation) {
  EXPECT_EQ(DriftTest({}), 1.0);
  EXPECT_EQ(DriftTest({{true}, {false}}), 1.0);
  EXPECT_EQ(DriftTest({{true, true, true}, {false, false, false}}), 1.0);
}

// Without a drift, p ≤ 5 % in at most 5 % of runs: four standard errors of 1000 draws are 2.8 points.
TEST(DriftTest, IsSeldomWrong) {
  Rng rng(3);
  int found = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    std::vector<CaseSeries> cases(8, CaseSeries(5));
    for (std::size_t i = 0; i < cases.size(); ++i) {
      for (std::size_t r = 0; r < 5; ++r) cases[i][r] = rng.Uniform() < (static_cast<double>(i) + 1.0) / 10.0;
    }
    found += DriftTest(cases) <= 0.05 ? 1 : 0;
  }
  EXPECT_LT(found, 78);
  EXPECT_GT(found, 15);
}

}  // namespace
}  // namespace upskill
