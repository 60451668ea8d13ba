// SPDX-License-Identifier: Apache-2.0
#include "stats/interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/bounded_mean.h"
#include "stats/quantile.h"
#include "stats/score_test.h"

namespace upskill {
namespace {

// R. G. Newcombe, Statistics in Medicine 17 (1998) 857, table I, method 3.
TEST(WilsonInterval, NewcombesTable) {
  const auto expect = [](std::int64_t passed, std::int64_t total, double low, double high) {
    const Interval interval = WilsonInterval(passed, total);
    EXPECT_NEAR(interval.low, low, 5e-5) << passed << "/" << total;
    EXPECT_NEAR(interval.high, high, 5e-5) << passed << "/" << total;
  };
  expect(81, 263, 0.2553, 0.3662);
  expect(15, 148, 0.0624, 0.1605);
  expect(0, 20, 0.0, 0.1611);
  expect(1, 29, 0.0061, 0.1718);
  EXPECT_EQ(WilsonInterval(20, 20).high, 1.0);
  EXPECT_EQ(WilsonInterval(0, 0).low, 0.0);
  EXPECT_EQ(WilsonInterval(0, 0).high, 1.0);
}

// The usual table of Student's t.
TEST(Critical, TablesOfNormalAndStudent) {
  EXPECT_NEAR(NormalCritical(0.95), 1.959963984540054, 1e-12);
  EXPECT_NEAR(NormalCritical(0.99), 2.5758293035489, 1e-12);
  EXPECT_NEAR(StudentCritical(0.95, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentCritical(0.95, 5), 2.571, 5e-4);
  EXPECT_NEAR(StudentCritical(0.95, 10), 2.228, 5e-4);
  EXPECT_NEAR(StudentCritical(0.95, 30), 2.042, 5e-4);
  EXPECT_NEAR(StudentCritical(0.95, 2.5), 3.5746548420036817, 1e-9);
}

// The sleep data of Student (1908) and R's manual: t.test(extra ~ group, paired = TRUE).
TEST(MeanInterval, StudentsSleepData) {
  const auto interval = MeanInterval({1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4});
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 0.7001142, 1e-7);
  EXPECT_NEAR(interval->high, 2.4598858, 1e-7);
  EXPECT_FALSE(MeanInterval({1.0}).has_value());
}

// A. Agresti, Categorical Data Analysis: change of approval 86 − 150 of 1600, 95 % interval (−0.06, −0.02).
TEST(LiftInterval, ApprovalOfThePrimeMinister) {
  std::vector<PairCounts> people(1600);
  for (std::size_t i = 0; i < people.size(); ++i) {
    (i < 86 ? people[i].wins : i < 236 ? people[i].losses : people[i].ties) = 1.0;
  }
  const auto interval = LiftInterval(people);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, -0.06, 0.005);
  EXPECT_NEAR(interval->high, -0.02, 0.005);
}

TEST(LiftInterval, OneRoundIsAScoreInterval) {
  std::vector<PairCounts> cases(10, {0, 1, 0});
  cases[0] = cases[1] = cases[2] = {1, 0, 0};
  cases[3] = {0, 0, 1};
  const auto interval = LiftInterval(cases);
  ASSERT_TRUE(interval.has_value());
  EXPECT_DOUBLE_EQ(interval->low, ScoreInterval(cases)->low);
  EXPECT_DOUBLE_EQ(interval->high, ScoreInterval(cases)->high);
  EXPECT_TRUE(interval->Contains(0.2));
}

// n equal values of a give (1 + a)^−n for the mean 0 (bounded_mean.h).
TEST(BoundedMeanInterval, AllowsForWhatHasNotBeenSeen) {
  const std::vector<double> equal(12, 0.5);
  const auto interval = BoundedMeanInterval(equal, 0.0, 1.0);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 0.5 * std::pow(0.025, 1.0 / 12.0), 1e-4);
  EXPECT_NEAR(interval->high, 1.0 - interval->low, 1e-4);
  const auto scaled = BoundedMeanInterval(std::vector<double>(12, 50.0), 0.0, 100.0);
  EXPECT_NEAR(scaled->low, 100.0 * interval->low, 1e-2);
  EXPECT_FALSE(BoundedMeanInterval({}, 0.0, 1.0).has_value());
}

TEST(LiftInterval, DifferencesBetweenCasesDontCountFromTwoRoundsOn) {
  const std::vector<PairCounts> cases = {{20, 0, 0}, {0, 0, 20}, {20, 0, 0}, {0, 20, 0}};
  const auto interval = LiftInterval(cases);
  ASSERT_TRUE(interval.has_value());
  EXPECT_TRUE(interval->Contains(0.25));
  EXPECT_LT(interval->high - interval->low, 0.1);
}

TEST(LiftInterval, StaysWithinTheScale) {
  const auto interval = LiftInterval({{1, 0, 0}, {1, 0, 0}, {1, 0, 0}});
  ASSERT_TRUE(interval.has_value());
  EXPECT_EQ(interval->high, 1.0);
  EXPECT_FALSE(LiftInterval({}).has_value());
  EXPECT_FALSE(LiftInterval({{0, 0, 0}}).has_value());
}

TEST(NewCasesInterval, IsNotClaimedBelowSixCases) {
  EXPECT_FALSE(NewCasesInterval({0.5, 0.5, 0.5, 0.5, 0.5}).has_value());
  EXPECT_TRUE(NewCasesInterval({0.5, 0.5, 0.5, 0.5, 0.5, 0.5}).has_value());
}

TEST(NewCasesInterval, EqualMeansStillLeaveDoubt) {
  const auto interval = NewCasesInterval(std::vector<double>(12, 0.5));
  ASSERT_TRUE(interval.has_value());
  EXPECT_TRUE(interval->Contains(0.5));
  EXPECT_GT(interval->high - interval->low, 0.1);
}

// Cases of which 7 % gain and the others stay the same: the number of gains among 25 is binomial. With pseudo cases
// that became fewer with the rounds, it was 86 % after 20 rounds.
TEST(NewCasesInterval, CoversRareGains) {
  constexpr int kCases = 25;
  constexpr double kShare = 0.07;
  double covered = 0.0;
  double chance = std::pow(1.0 - kShare, kCases);  // of this number of gains
  for (int gains = 0; gains <= kCases; ++gains) {
    std::vector<double> lifts(kCases, 0.0);
    std::fill(lifts.begin(), lifts.begin() + gains, 1.0);
    if (NewCasesInterval(lifts)->Contains(kShare)) covered += chance;
    chance *= kShare / (1.0 - kShare) * (kCases - gains) / (gains + 1.0);
  }
  EXPECT_GE(covered, 0.95);
}

TEST(NewCasesInterval, IsWhatTheTestDoesntReject) {
  const std::vector<double> lifts = {0.1, 0.5, -0.2, 0.3, 0.4, 0.0, 0.2, 0.6};
  const auto interval = NewCasesInterval(lifts);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(BoundedMeanTest(lifts, interval->low), 0.025, 1e-4);
  EXPECT_TRUE(interval->Contains(0.2375));
  const auto ones = NewCasesInterval(std::vector<double>(6, 1.0));
  EXPECT_NEAR(ones->low, 2.0 * std::pow(0.025, 1.0 / 6.0) - 1.0, 1e-4);
  EXPECT_NEAR(ones->high, 1.0, 1e-4);
}

// Eleven cases 0 → 1 always and one 0.88 → 0.2: all outcomes of the one over three rounds. Pulling the sum towards 0
// gave 82.5 %.
TEST(LiftInterval, CoversCasesThatAlwaysGain) {
  constexpr double kWin = 0.12 * 0.2;
  constexpr double kLoss = 0.88 * 0.8;
  constexpr double kTruth = (11.0 - 0.68) / 12.0;
  for (const int rounds : {2, 3, 6, 10}) {
    double covered = 0.0;
    for (int wins = 0; wins <= rounds; ++wins) {
      for (int losses = 0; wins + losses <= rounds; ++losses) {
        const int ties = rounds - wins - losses;
        std::vector<PairCounts> cases(11, {static_cast<double>(rounds), 0, 0});
        cases.push_back({static_cast<double>(wins), static_cast<double>(ties), static_cast<double>(losses)});
        if (!LiftInterval(cases)->Contains(kTruth)) continue;
        covered += std::exp(std::lgamma(rounds + 1.0) - std::lgamma(wins + 1.0) - std::lgamma(ties + 1.0) -
                            std::lgamma(losses + 1.0) + wins * std::log(kWin) + ties * std::log(1.0 - kWin - kLoss) +
                            losses * std::log(kLoss));
      }
    }
    EXPECT_GE(covered, 0.935) << rounds << " rounds";
  }
}

// 100 cases × 20 rounds, each of which gains with the same small probability: the gains are binomial, and nearly always
// in different cases. With as much unseen variance at 99 % as at 95 %, the coverage was 97.9 %.
TEST(LiftInterval, CoversRareGainsAtHighConfidence) {
  constexpr int kCases = 100;
  constexpr double kRounds = 20.0;
  constexpr double kPairs = kCases * kRounds;
  for (const double expected : {4.1, 5.8, 7.48, 9.0, 13.06}) {
    const double rate = expected / kPairs;
    double covered = 0.0;
    double chance = std::pow(1.0 - rate, kPairs);  // of this number of gains
    for (int gains = 0; gains <= kCases; ++gains) {
      std::vector<PairCounts> cases(kCases, {0.0, kRounds, 0.0});
      std::fill(cases.begin(), cases.begin() + gains, PairCounts{1.0, kRounds - 1.0, 0.0});
      if (LiftInterval(cases, 0.99)->Contains(rate)) covered += chance;
      chance *= rate / (1.0 - rate) * (kPairs - gains) / (gains + 1.0);
    }
    EXPECT_GE(covered, 0.985) << expected;
  }
}

TEST(LiftInterval, CopiesAreOneUnit) {
  const std::vector<UnitRounds> singles(6, {4.0, 1.0, 3.0});
  const std::vector<UnitRounds> copies(2, {4.0, 1.0, 3.0});  // of three cases each
  const auto of_singles = LiftIntervalOfUnits(singles);
  const auto of_copies = LiftIntervalOfUnits(copies);
  ASSERT_TRUE(of_singles.has_value());
  ASSERT_TRUE(of_copies.has_value());
  EXPECT_GT(of_copies->high - of_copies->low, 1.5 * (of_singles->high - of_singles->low));
}

}  // namespace
}  // namespace upskill
