// SPDX-License-Identifier: Apache-2.0
#include "stats/multiplicity.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<double> LogsOfInverse(const std::vector<double>& p_values) {
  std::vector<double> logs;
  for (const double p : p_values) logs.push_back(-std::log(p));
  return logs;
}

// The worked example of the article "Holm–Bonferroni method" on Wikipedia: the first and the last are rejected at 5 %.
TEST(Holm, WorkedExample) {
  EXPECT_THAT(HolmRejects(LogsOfInverse({0.01, 0.04, 0.03, 0.005}), 0.05), ElementsAre(true, false, false, true));
}

TEST(Holm, StepsDown) {
  EXPECT_THAT(HolmRejects(LogsOfInverse({0.024, 0.049}), 0.05), ElementsAre(true, true));
  EXPECT_THAT(HolmRejects(LogsOfInverse({0.026, 0.026}), 0.05), ElementsAre(false, false));
  EXPECT_THAT(HolmRejects({}, 0.05), IsEmpty());
}

TEST(Holm, OneHypothesisNeedsOneOverAlpha) {
  EXPECT_THAT(HolmRejects({std::log(20.01)}, 0.05), ElementsAre(true));
  EXPECT_THAT(HolmRejects({std::log(19.99)}, 0.05), ElementsAre(false));
}

TEST(Holm, AsksTestsForTheLevelsThatTheyNeed) {
  const std::vector<double> p_values = {0.01, 0.04, 0.03, 0.005};
  double largest = 0.0;
  const auto rejects = [&](std::size_t i, double alpha) {
    largest = std::max(largest, alpha);
    return p_values[i] <= alpha;
  };
  EXPECT_THAT(HolmRejects(4, 0.05, rejects), ElementsAre(true, false, false, true));
  EXPECT_DOUBLE_EQ(largest, 0.025);
  EXPECT_THAT(HolmRejects(0, 0.05, rejects), IsEmpty());
  EXPECT_DOUBLE_EQ(HolmAlpha(4, 2, 0.05), 0.025);
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"), and with n = 8.
TEST(HolmAdjusted, AsInR) {
  using ::testing::DoubleNear;
  EXPECT_THAT(
      HolmAdjusted({0.01, 0.04, 0.03, 0.005}, 4),
      ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.02, 1e-12)));
  EXPECT_THAT(
      HolmAdjusted({0.01, 0.04, 0.03, 0.005}, 8),
      ElementsAre(DoubleNear(0.07, 1e-12), DoubleNear(0.2, 1e-12), DoubleNear(0.18, 1e-12), DoubleNear(0.04, 1e-12)));
  EXPECT_THAT(HolmAdjusted({0.6, 0.7}, 2), ElementsAre(1.0, 1.0));
  EXPECT_THAT(HolmAdjusted({}, 3), IsEmpty());
}

TEST(CandidateAlpha, AddsUpToAlpha) {
  double sum = 0.0;
  for (int k = 1; k <= 10000; ++k) sum += CandidateAlpha(k, 0.05);
  EXPECT_DOUBLE_EQ(CandidateAlpha(1, 0.05), 0.04);
  EXPECT_DOUBLE_EQ(CandidateAlpha(2, 0.05), 0.005);
  EXPECT_DOUBLE_EQ(CandidateAlpha(3, 0.05), 0.05 / 30.0);
  EXPECT_LT(sum, 0.05);
  EXPECT_NEAR(sum, 0.05, 1e-5);
}

}  // namespace
}  // namespace upskill
