// SPDX-License-Identifier: Apache-2.0
#include "stats/agreement.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include "stats/quantile.h"
#include "util/rng.h"

namespace upskill {
namespace {

constexpr double kNear = 1e-6;

// One string per rater, one character per item: 1, 0, or a point where there is no label.
std::vector<ItemLabels> ItemsOf(const std::vector<std::string_view>& raters) {
  std::vector<ItemLabels> items(raters.front().size());
  for (const std::string_view rater : raters) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      items[i].push_back(rater[i] == '.' ? std::nullopt : std::optional(rater[i] == '1'));
    }
  }
  return items;
}

double AlphaOfRaters(const std::vector<std::string_view>& raters) {
  const auto alpha = KrippendorffAlpha(ItemsOf(raters), 1);
  return alpha ? alpha->value : -2.0;
}

// The example of ci.kappa in the manual of the R package statpsych: 0.6756757, asymptotic interval (0.532, 0.820).
// The other values: statsmodels 0.15.0, cohens_kappa(table).kappa
TEST(CohenKappa, PublishedValues) {
  const auto kappa = [](const ConfusionCounts& counts) { return CohenKappa(counts).value().value; };
  EXPECT_NEAR(kappa({31, 12, 4, 58}), 0.6756757, 1e-7);
  EXPECT_NEAR(kappa({20, 5, 10, 15}), 0.4, 1e-12);
  EXPECT_NEAR(kappa({45, 15, 25, 15}), 0.13043478260869554, 1e-12);
  EXPECT_NEAR(kappa({25, 35, 5, 35}), 0.25925925925925924, 1e-12);
}

// scipy.optimize 1.17.1: X² by SLSQP over the four cells, under the constraint on kappa; its roots by brentq.
TEST(CohenKappa, IntervalAgainstScipy) {
  const auto expect = [](const ConfusionCounts& counts, double low, double high) {
    const Interval interval = CohenKappa(counts).value().interval;
    EXPECT_NEAR(interval.low, low, kNear);
    EXPECT_NEAR(interval.high, high, kNear);
  };
  expect({20, 5, 10, 15}, 0.13169959888826235, 0.615660664195472);
  expect({31, 12, 4, 58}, 0.5099648973149224, 0.7950317735144382);
  expect({40, 3, 2, 15}, 0.5740451466861782, 0.9131576255332841);
}

// statsmodels 0.15.0 for 100 times the items: cohens_kappa(table).kappa_low and .kappa_upp are 0.4 ± 0.02489077.
TEST(CohenKappa, ApproachesTheAsymptoticInterval) {
  const Interval interval = CohenKappa({2000, 500, 1000, 1500}).value().interval;
  EXPECT_NEAR(interval.low, 0.4 - 0.02489077, 5e-4);
  EXPECT_NEAR(interval.high, 0.4 + 0.02489077, 5e-4);
}

TEST(CohenKappa, PerfectAgreementLeavesDoubt) {
  const auto kappa = CohenKappa({12, 0, 0, 8});
  ASSERT_TRUE(kappa.has_value());
  EXPECT_EQ(kappa->value, 1.0);
  EXPECT_EQ(kappa->interval.high, 1.0);
  EXPECT_GT(kappa->interval.low, 0.5);
  EXPECT_LT(kappa->interval.low, 0.8);
  EXPECT_EQ(CohenKappa({0, 5, 5, 0}).value().value, -1.0);
  EXPECT_EQ(CohenKappa({0, 5, 5, 0}).value().interval.low, -1.0);
}

TEST(CohenKappa, IsUndefinedWithoutVariation) {
  EXPECT_FALSE(CohenKappa({}).has_value());
  EXPECT_FALSE(CohenKappa({7, 0, 0, 0}).has_value());
  EXPECT_FALSE(CohenKappa({0, 0, 0, 7}).has_value());
  EXPECT_EQ(CohenKappa({6, 0, 2, 0}).value().value, 0.0);  // the judge passes some, people all
}

TEST(CohenKappa, IsSymmetric) {
  const AgreementEstimate kappa = CohenKappa({14, 3, 1, 9}).value();
  for (const ConfusionCounts& counts : {ConfusionCounts{14, 1, 3, 9}, ConfusionCounts{9, 3, 1, 14}}) {
    const AgreementEstimate other = CohenKappa(counts).value();
    EXPECT_NEAR(other.value, kappa.value, 1e-12);
    EXPECT_NEAR(other.interval.low, kappa.interval.low, kNear);
    EXPECT_NEAR(other.interval.high, kappa.interval.high, kNear);
  }
}

// Every table of ten items with a kappa: the exact coverage of intervals near 1, where the asymptotic one has 22 %.
TEST(CohenKappa, CoversNearOne) {
  constexpr int kItems = 10;
  constexpr double kKappa = 0.95;
  constexpr double kDiffer = 0.5 * (1.0 - kKappa) * 0.5;  // in each of two cells; half of the items pass
  double covered = 0.0;
  double defined = 0.0;
  for (int a = 0; a <= kItems; ++a) {
    for (int b = 0; a + b <= kItems; ++b) {
      for (int c = 0; a + b + c <= kItems; ++c) {
        const int d = kItems - a - b - c;
        const auto kappa = CohenKappa({a, b, c, d});
        if (!kappa) continue;
        const double chance =
            std::exp(std::lgamma(kItems + 1.0) - std::lgamma(a + 1.0) - std::lgamma(b + 1.0) - std::lgamma(c + 1.0) -
                     std::lgamma(d + 1.0) + (a + d) * std::log(0.5 - kDiffer) + (b + c) * std::log(kDiffer));
        defined += chance;
        if (kappa->interval.Contains(kKappa)) covered += chance;
      }
    }
  }
  EXPECT_GE(covered / defined, 0.95);
}

// K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011): A, binary data of two observers, 0.095.
TEST(KrippendorffAlpha, PublishedValue) { EXPECT_NEAR(AlphaOfRaters({"0100000010", "1110010000"}), 0.095, 5e-4); }

// krippendorff 0.9.0, krippendorff.alpha(labels, level_of_measurement="nominal"): the four observers with missing
// labels of example C in the same paper, as "at most 2", "2" and "1" against the rest, and three raters without missing
// labels. With C's own categories, the package has 0.743, as published.
TEST(KrippendorffAlpha, AgainstThePythonPackage) {
  EXPECT_NEAR(AlphaOfRaters({"110011011...", "1100110110.0", ".0001001101.", "11001001101."}), 0.7702020202020201,
              1e-12);
  EXPECT_NEAR(AlphaOfRaters({"010010001...", "0100110010.0", ".0001001100.", "01001000100."}), 0.6666666666666667,
              1e-12);
  EXPECT_NEAR(AlphaOfRaters({"100001010...", "1000000100.0", ".0000000001.", "10000001001."}), 0.7204301075268817,
              1e-12);
  EXPECT_NEAR(AlphaOfRaters({"1100110101", "1100100111", "1101110101"}), 0.5837320574162679, 1e-12);
}

TEST(KrippendorffAlpha, PerfectAgreementLeavesDoubt) {
  const auto alpha = KrippendorffAlpha(ItemsOf({"11100111010110", "11100111010110", "11100111010110"}), 7);
  ASSERT_TRUE(alpha.has_value());
  EXPECT_EQ(alpha->value, 1.0);
  EXPECT_EQ(alpha->interval.high, 1.0);
  EXPECT_LT(alpha->interval.low, 0.9);
  EXPECT_GT(alpha->interval.low, 0.5);
}

TEST(KrippendorffAlpha, IsUndefinedWithoutVariation) {
  EXPECT_FALSE(KrippendorffAlpha({}, 1).has_value());
  EXPECT_FALSE(KrippendorffAlpha(ItemsOf({"1111", "1111"}), 1).has_value());
  EXPECT_FALSE(KrippendorffAlpha(ItemsOf({"10..", "..01"}), 1).has_value());  // no item with two labels
}

TEST(KrippendorffAlpha, SingleLabelsDontCount) {
  const auto with = KrippendorffAlpha(ItemsOf({"110100101", "11000010."}), 3);
  const auto without = KrippendorffAlpha(ItemsOf({"11010010", "11000010"}), 3);
  ASSERT_TRUE(with.has_value() && without.has_value());
  EXPECT_EQ(with->value, without->value);
  EXPECT_EQ(with->interval.low, without->interval.low);
}

TEST(KrippendorffAlpha, SwappedRatersAreTheSameAndSeedsRepeat) {
  const AgreementEstimate alpha = KrippendorffAlpha(ItemsOf({"1101001011", "1100001.11", "1001001110"}), 5).value();
  const AgreementEstimate swapped = KrippendorffAlpha(ItemsOf({"1001001110", "1101001011", "1100001.11"}), 5).value();
  EXPECT_EQ(alpha.value, swapped.value);
  EXPECT_EQ(alpha.interval.low, swapped.interval.low);
  EXPECT_EQ(alpha.interval.high, swapped.interval.high);
  EXPECT_TRUE(alpha.interval.Contains(alpha.value));
}

// For two raters, the draws are Jeffreys' posterior of the 2x2 table, so that the interval is near the one of kappa.
TEST(KrippendorffAlpha, IntervalIsNearThatOfKappa) {
  std::vector<ItemLabels> items;
  items.insert(items.end(), 60, {true, true});
  items.insert(items.end(), 12, {true, false});
  items.insert(items.end(), 10, {false, true});
  items.insert(items.end(), 70, {false, false});
  const Interval alpha = KrippendorffAlpha(items, 9).value().interval;
  const Interval kappa = CohenKappa({60, 12, 10, 70}).value().interval;
  EXPECT_NEAR(alpha.low, kappa.low, 0.02);
  EXPECT_NEAR(alpha.high, kappa.high, 0.02);
}

// statsmodels 0.15.0: proportion_confint(count, nobs, method="beta")
TEST(RatesOfJudge, AgainstStatsmodels) {
  const auto rates = RatesOfJudge(EffectiveOf(ConfusionCounts{40, 3, 2, 15}));
  ASSERT_TRUE(rates.has_value());
  EXPECT_NEAR(rates->sensitivity.value, 40.0 / 42.0, 1e-12);
  EXPECT_NEAR(rates->sensitivity.interval.low, 0.838358040308346, 1e-9);
  EXPECT_NEAR(rates->sensitivity.interval.high, 0.99418017516449, 1e-9);
  EXPECT_NEAR(rates->specificity.value, 15.0 / 18.0, 1e-12);
  EXPECT_NEAR(rates->specificity.interval.low, 0.5858225086052259, 1e-9);
  EXPECT_NEAR(rates->specificity.interval.high, 0.9642149168784253, 1e-9);
  EXPECT_FALSE(RatesOfJudge(EffectiveCounts{5, 0, 2, 0}).has_value());
  EXPECT_FALSE(RatesOfJudge(EffectiveCounts{0, 5, 0, 2}).has_value());
}

// By hand. Forty answers of which one was given forty times, and the judge is wrong about that one: it errs on half of
// what was given, and 40 answers tell as much as (79)²/(39 + 1600) = 3.8 equally frequent ones.
TEST(EffectiveOf, AFrequentAnswerWeighsMore) {
  std::vector<WeightedLabel> labels(39, {true, true, 1.0});
  labels.push_back({false, true, 40.0});
  const EffectiveCounts counts = EffectiveOf(labels);
  const double items = 79.0 * 79.0 / (39.0 + 1600.0);
  EXPECT_NEAR(counts.both_pass, items * 39.0 / 79.0, 1e-12);
  EXPECT_NEAR(counts.people_only, items * 40.0 / 79.0, 1e-12);
  EXPECT_EQ(counts.people_fail(), 0.0);
  const std::vector<WeightedLabel> equal = {{true, true, 3.0}, {true, false, 3.0}, {false, false, 3.0}};
  EXPECT_EQ(EffectiveOf(equal), EffectiveOf(ConfusionCounts{1, 1, 0, 1}));
}

// R: fisher.test(matrix(c(9, 11, 2, 18), 2))$p.value is 0.0310, of 8 and 2: 0.0648; of 12 and 2: 0.0022.
TEST(ErrsDifferently, FishersExactTestOfBothRates) {
  const auto passed_by_judge_alone = [](std::int64_t errors) { return ConfusionCounts{10, errors, 0, 20 - errors}; };
  EXPECT_FALSE(ErrsDifferently(passed_by_judge_alone(9), passed_by_judge_alone(2)));
  EXPECT_TRUE(ErrsDifferently(passed_by_judge_alone(12), passed_by_judge_alone(2)));
  EXPECT_TRUE(ErrsDifferently(passed_by_judge_alone(2), passed_by_judge_alone(12)));
  EXPECT_TRUE(ErrsDifferently({8, 0, 12, 5}, {18, 0, 2, 5}));
  EXPECT_FALSE(ErrsDifferently({}, {10, 5, 5, 10}));
}

}  // namespace
}  // namespace upskill
