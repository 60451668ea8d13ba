// SPDX-License-Identifier: Apache-2.0
// The formulas against other implementations: SciPy 1.17.1, statsmodels 0.15.0, and enumerations in exact fractions
// that share no code with ours. A comment beside each number says how it was computed.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "stats/bounded_mean.h"
#include "stats/e_process.h"
#include "stats/exact_tests.h"
#include "stats/interval.h"
#include "stats/multiplicity.h"
#include "stats/power.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"

namespace upskill {
namespace {

// scipy.stats.binomtest(wins, wins + losses, alternative="greater").pvalue
TEST(Reference, SignTestAgainstScipy) {
  EXPECT_NEAR(SignTest(7, 0), 0.0078125, 1e-12);
  EXPECT_NEAR(SignTest(9, 2), 0.03271484375, 1e-12);
  EXPECT_NEAR(SignTest(30, 14), 0.011314420602957398, 1e-12);
  EXPECT_NEAR(SignTest(120, 90), 0.022557043932420348, 1e-12);
}

// scipy.stats.permutation_test((x,), numpy.sum, permutation_type="samples", alternative="greater", n_resamples=inf)
TEST(Reference, SignFlipTestAgainstScipy) {
  EXPECT_NEAR(SignFlipTest({3, 1, -1, 2, 5, 2}).value_or(-1.0), 0.046875, 1e-12);
  EXPECT_NEAR(SignFlipTest({10, -3, 4, 0, 7, -2, 1, 6}).value_or(-1.0), 0.0703125, 1e-12);
}

// statsmodels.stats.proportion.proportion_confint(passed, total, method="wilson")
TEST(Reference, WilsonAgainstStatsmodels) {
  EXPECT_NEAR(WilsonInterval(3, 12).low, 0.08894166839405476, 1e-9);
  EXPECT_NEAR(WilsonInterval(3, 12).high, 0.5323053349335658, 1e-9);
  EXPECT_NEAR(WilsonInterval(35, 36).low, 0.8583028134672614, 1e-9);
  EXPECT_NEAR(WilsonInterval(35, 36).high, 0.9950795928601897, 1e-9);
}

// scipy.stats.ttest_1samp(x, 0).confidence_interval(0.95)
TEST(Reference, MeanIntervalAgainstScipy) {
  const Interval interval = MeanInterval({0.25, -0.1, 0.4, 0.3, 0.05, 0.6}).value_or(Interval{});
  EXPECT_NEAR(interval.low, -0.011307367025121251, 1e-9);
  EXPECT_NEAR(interval.high, 0.5113073670251213, 1e-9);
}

// statsmodels.stats.multitest.multipletests([0.01, 0.04, 0.03, 0.005], 0.05, method="holm")
TEST(Reference, HolmAgainstStatsmodels) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<bool> rejects =
      HolmRejects(p.size(), 0.05, [&](std::size_t test, double alpha) { return p[test] <= alpha; });
  EXPECT_EQ(rejects, (std::vector<bool>{true, false, false, true}));
}

// scipy.integrate.quad
TEST(Reference, EvidenceAgainstScipy) {
  EXPECT_NEAR(Evidence({7, 0, 0}), 31.875, 1e-9);
  EXPECT_NEAR(Evidence({10, 5, 2}), 9.440559440559444, 1e-9);
  EXPECT_NEAR(Evidence({40, 5, 25}), 1.6606102029995653, 1e-9);
  EXPECT_NEAR(Evidence({12, 20, 4}, 0.1), 1.0633658635906411, 1e-9);
}

// Critical values by enumerating all signs of all units in exact fractions. Unreachable: none rejects.
std::vector<std::int64_t> CriticalOf(const std::vector<std::vector<double>>& rounds, double alpha) {
  constexpr int kPlanned = 3;
  SignFlipSequence sequence(alpha, SpendingSchedule(kPlanned));
  for (const std::vector<double>& round : rounds) sequence.AddRound(round);
  return sequence.critical();
}

TEST(Reference, CriticalValuesAgainstEnumeration) {
  const std::vector<double> five(5, 1.0);
  const std::vector<std::int64_t> pairs = CriticalOf({five, five, {1, 1, 1, 1}}, 0.05);
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_GT(pairs[0], 5);
  EXPECT_EQ(pairs[1], 8);
  EXPECT_EQ(pairs[2], 8);
  EXPECT_EQ(CriticalOf({{.5, 1, -.2, 1, 1}, {.1, .1, 1, 1, 1}, {1, .25, 1, 1}}, 0.05), pairs);
}

// For distinct values y and the extra one of −1: 1 − Σ over positive y of Π y/(y − other), in exact fractions.
TEST(Reference, BoundedMeanAgainstPartialFractions) {
  EXPECT_NEAR(BoundedMeanTest({.1, .2, .3, .4, .5, .6}), 0.17343767343767344, 1e-10);
  EXPECT_NEAR(BoundedMeanTest({-.2, .1, .25, .35, .5, .7, .9, 1}), 0.0694425685721513, 1e-10);
  EXPECT_NEAR(BoundedMeanTest({.05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6}), 0.037871527114105005, 1e-10);
}

TEST(Reference, TheSaddlepointIsWithinAFewPercentOfTheBoundedMeanTest) {
  for (const std::vector<double>& values :
       {std::vector<double>(14, 0.25), std::vector<double>(12, 0.5), std::vector<double>{1, 0, 0, 1, .5, .5, .25, -.2},
        std::vector<double>{-.2, .1, .25, .35, .5, .7, .9, 1}}) {
    EXPECT_NEAR(BoundedMeanSaddlepoint(values) / BoundedMeanTest(values), 1.0, 0.05);
  }
  EXPECT_DOUBLE_EQ(BoundedMeanSaddlepoint({-0.1, 0.1}), 1.0);
}

}  // namespace
}  // namespace upskill
