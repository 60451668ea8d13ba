// SPDX-License-Identifier: Apache-2.0
#include "stats/pass_at_k.h"

#include <gmock/gmock.h>

#include "util/rng.h"

namespace upskill {
namespace {

// Chen et al. 2021: with k = 1 the estimate is c/n; else 1 − C(n−c, k)/C(n, k), here from counted combinations.
TEST(PassAtK, CountsCombinations) {
  EXPECT_NEAR(*PassAtK(200, 17, 1), 17.0 / 200.0, 1e-12);
  EXPECT_NEAR(*PassAtK(10, 3, 5), 1.0 - 21.0 / 252.0, 1e-12);
  EXPECT_NEAR(*PassAtK(5, 1, 2), 0.4, 1e-12);
  EXPECT_EQ(*PassAtK(10, 8, 3), 1.0);
  EXPECT_EQ(*PassAtK(10, 0, 3), 0.0);
}

// Yao et al. 2024: C(c, k)/C(n, k).
TEST(PassAllK, CountsCombinations) {
  EXPECT_NEAR(*PassAllK(8, 6, 4), 15.0 / 70.0, 1e-12);
  EXPECT_NEAR(*PassAllK(4, 2, 2), 1.0 / 6.0, 1e-12);
  EXPECT_EQ(*PassAllK(4, 4, 4), 1.0);
  EXPECT_EQ(*PassAllK(4, 1, 2), 0.0);
  EXPECT_NEAR(*PassAllK(1000000, 999999, 500000), 0.5, 1e-12);
}

TEST(PassAllK, RefusesWhatCantBeKnown) {
  EXPECT_FALSE(PassAllK(3, 2, 4).has_value());
  EXPECT_FALSE(PassAllK(3, 2, 0).has_value());
  EXPECT_FALSE(PassAllK(3, 4, 1).has_value());
  EXPECT_FALSE(PassAtK(3, -1, 1).has_value());
}

TEST(MeanPassAtK, AveragesCases) {
  const std::vector<CaseAnswers> cases = {{5, 1}, {5, 5}, {5, 0}};
  EXPECT_NEAR(MeanPassAtK(cases, 2)->mean, (0.4 + 1.0 + 0.0) / 3.0, 1e-12);
  EXPECT_NEAR(MeanPassAllK(cases, 2)->mean, (0.0 + 1.0 + 0.0) / 3.0, 1e-12);
  EXPECT_FALSE(MeanPassAtK(cases, 2)->interval.has_value());  // three cases
  EXPECT_FALSE(MeanPassAtK(cases, 6).has_value());
  EXPECT_FALSE(MeanPassAtK({}, 1).has_value());
}

TEST(MeanPassAtK, EqualCasesStillHaveAnInterval) {
  const std::vector<CaseAnswers> all_pass(12, CaseAnswers{3, 3});
  const std::optional<CaseMean> mean = MeanPassAllK(all_pass, 3);
  EXPECT_EQ(mean->mean, 1.0);
  EXPECT_LT(mean->interval->low, 0.95);
  EXPECT_LE(mean->interval->high, 1.0);
}

// How often the intervals contain the mean over the population that the cases come from: half at one rate, half at
// another. The nominal 95 % less four standard errors of 500 draws is 91 %.
TEST(MeanPassAtK, IntervalsContainTheMeanOfThePopulation) {
  constexpr int kDraws = 500;
  constexpr std::int64_t kRounds = 6;
  constexpr std::int64_t kTries = 3;
  for (const auto& [low, high] : {std::pair{0.1, 0.6}, std::pair{0.5, 0.5}, std::pair{0.02, 0.98}}) {
    Rng rng(7);
    const auto none = [](double rate) { return (1.0 - rate) * (1.0 - rate) * (1.0 - rate); };
    const double any = 1.0 - (none(low) + none(high)) / 2.0;
    const double all = (none(1.0 - low) + none(1.0 - high)) / 2.0;
    int any_covered = 0;
    int all_covered = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::vector<CaseAnswers> cases;
      for (int i = 0; i < 14; ++i) {
        CaseAnswers& one = cases.emplace_back(CaseAnswers{kRounds, 0});
        const double rate = rng.Uniform() < 0.5 ? low : high;
        for (std::int64_t round = 0; round < kRounds; ++round) one.passed += rng.Uniform() < rate ? 1 : 0;
      }
      any_covered += MeanPassAtK(cases, kTries)->interval->Contains(any) ? 1 : 0;
      all_covered += MeanPassAllK(cases, kTries)->interval->Contains(all) ? 1 : 0;
    }
    EXPECT_GT(any_covered, kDraws * 91 / 100) << low;
    EXPECT_GT(all_covered, kDraws * 91 / 100) << low;
  }
}

}  // namespace
}  // namespace upskill
