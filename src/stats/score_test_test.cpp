// SPDX-License-Identifier: Apache-2.0
#include "stats/score_test.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/exact_rate.h"
#include "util/rng.h"

namespace upskill {
namespace {

std::vector<PairCounts> AllTies(std::size_t cases, double rounds) {
  return std::vector<PairCounts>(cases, PairCounts{0, rounds, 0});
}

// 0.95^48 = 8.5 % of runs that lose 5 % of the answers lose none of 48.
TEST(ScoreTest, FewAnswersWithoutALossShowLittle) {
  EXPECT_GT(ScoreTest(AllTies(12, 4), -0.05), 0.05);
  EXPECT_GT(ScoreTest(AllTies(50, 1), -0.05), 0.05);
  EXPECT_LT(ScoreTest(AllTies(12, 6), -0.05), 0.05);
  EXPECT_LT(ScoreTest(AllTies(50, 2), -0.05), 0.05);
}

TEST(ScoreTest, FewWinsAreNoProof) {
  std::vector<PairCounts> cases = AllTies(12, 3);
  cases[0] = {3, 0, 0};
  EXPECT_GT(ScoreTest(cases, 0.0), 0.05);
}

TEST(ScoreTest, FallsAsTheBoundFalls) {
  std::vector<PairCounts> cases = AllTies(12, 10);
  cases[0] = {4, 4, 2};
  cases[1] = {1, 7, 2};
  double last = 0.0;
  for (int points = -40; points <= 0; points += 5) {
    const double p = ScoreTest(cases, points / 100.0);
    EXPECT_GT(p, last) << points;
    last = p;
  }
}

// A case that one side always passes and the other never is no noise when there are several rounds.
TEST(ScoreTest, CasesAreFixed) {
  std::vector<PairCounts> cases = AllTies(12, 10);
  cases[0] = {10, 0, 0};
  cases[1] = {0, 0, 10};
  EXPECT_LT(ScoreTest(cases, -0.05), 0.02);
  EXPECT_GT(ScoreTest(std::vector<PairCounts>{{10, 100, 10}}, -0.05),
            0.05);  // the same counts, if they vary within a case
}

// What never varies is no noise, so the hypothesis would need more losses than there are pairs.
TEST(ScoreTest, NothingButWins) {
  const std::vector<PairCounts> wins(12, PairCounts{3, 0, 0});
  for (const double bound : {-0.9, -0.05, 0.0, 0.1, 0.5}) EXPECT_LT(ScoreTest(wins, bound), 1e-4) << bound;
  const auto interval = ScoreInterval(wins);
  ASSERT_TRUE(interval.has_value());
  EXPECT_GT(interval->low, 0.8);
  EXPECT_GT(interval->high, 0.99);
}

// Found by a search: one choice reliably breaks some cases and only partly fixes others, so all that varies is on one
// side. The loss is exactly the margin.
TEST(ScoreTest, SomeCasesBrokenAndOthersPartlyFixed) {
  struct Suite {
    std::size_t cases;
    int rounds;
    std::size_t broken;
    std::size_t fixed;
    double margin;
  };
  for (const Suite& suite : {Suite{30, 3, 11, 13, 0.05}, Suite{12, 10, 3, 4, 0.05}, Suite{30, 5, 6, 9, 0.0},
                             Suite{50, 2, 24, 25, 0.05}, Suite{50, 5, 25, 25, 0.05}}) {
    const double rate = (static_cast<double>(suite.broken) - static_cast<double>(suite.cases) * suite.margin) /
                        static_cast<double>(suite.fixed);
    constexpr int kDraws = 5000;
    Rng rng(suite.cases + suite.broken);
    int claims = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<PairCounts> cases = AllTies(suite.cases, suite.rounds);
      for (std::size_t i = 0; i < suite.broken + suite.fixed; ++i) {
        cases[i] = {};
        for (int round = 0; round < suite.rounds; ++round)
          cases[i].Add(i < suite.broken, i >= suite.broken && rng.Uniform() < rate);
      }
      claims += ScoreTest(cases, -suite.margin) <= 0.05 ? 1 : 0;
    }
    const double share = static_cast<double>(claims) / kDraws;
    EXPECT_LT(share, 0.05 + 4.0 * std::sqrt(0.05 * 0.95 / kDraws)) << suite.cases << " cases, " << suite.rounds;
    EXPECT_GT(share, 0.01) << "a test that never claims anything would pass, too";
  }
}

TEST(ScoreTest, WithoutPairsNothingIsShown) {
  EXPECT_EQ(ScoreTest(std::vector<PairCounts>(), -0.5), 1.0);
  EXPECT_FALSE(ScoreInterval(std::vector<PairCounts>()).has_value());
}

// A unit of two cases, of which one wins in every round: that doesn't vary within the unit.
TEST(ScoreTest, CasesOfOneInputThatChangeTogetherVaryMore) {
  std::vector<ScoreUnit> steady(10, ScoreUnit{4.0, 0.0, 0.0, 0.0});
  steady[0] = {4.0, 2.0, 0.0, 4 * 0.25};
  std::vector<ScoreUnit> together = steady;
  together[0] = {4.0, 2.0, 0.0, 2 * 1.0};  // both win in two of the rounds
  EXPECT_LT(ScoreTest(steady, 0.0), ScoreTest(together, 0.0));
}

TEST(ScoreInterval, AgreesWithTheTest) {
  std::vector<PairCounts> cases = AllTies(12, 5);
  cases[0] = {3, 1, 1};
  cases[3] = {0, 3, 2};
  const auto interval = ScoreInterval(cases, 0.9);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(ScoreTest(cases, interval->low), 0.05, 1e-4);
  std::vector<PairCounts> mirrored;
  mirrored.reserve(cases.size());
  for (const PairCounts& one : cases) mirrored.push_back(one.Mirrored());
  EXPECT_NEAR(ScoreTest(mirrored, -interval->high), 0.05, 1e-4);
  EXPECT_TRUE(interval->Contains(1.0 / 60.0));
}

TEST(ScoreInterval, EqualAnswersLeaveDoubt) {
  const auto interval = ScoreInterval(AllTies(12, 3));
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, -interval->high, 1e-6);
  EXPECT_GT(interval->low, -0.2);
  EXPECT_LT(interval->low, -0.07);
}

// Clopper and Pearson: 0.05^(1/n) with n of n; 3 of 10 from the usual tables.
TEST(ExactRateInterval, Tables) {
  EXPECT_NEAR(ExactRateInterval(14, 14, 0.9).low, std::pow(0.05, 1.0 / 14.0), 1e-9);
  EXPECT_EQ(ExactRateInterval(14, 14, 0.9).high, 1.0);
  EXPECT_NEAR(ExactRateInterval(3, 10).low, 0.0667, 5e-5);
  EXPECT_NEAR(ExactRateInterval(3, 10).high, 0.6525, 5e-5);
  EXPECT_EQ(ExactRateInterval(0, 0).high, 1.0);
}

}  // namespace
}  // namespace upskill
