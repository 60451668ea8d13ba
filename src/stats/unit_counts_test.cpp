// SPDX-License-Identifier: Apache-2.0
#include "stats/unit_counts.h"

#include <gtest/gtest.h>

#include <cmath>

#include "stats/e_process.h"

namespace upskill {
namespace {

TEST(UnitCounts, EachUnitCountsOnce) {
  UnitCounts counts;
  counts.Add(4, 2);
  counts.Add(1, -1, 2.0);
  counts.Add(3, 3);
  counts.Add(3, 2, 0.0);
  EXPECT_EQ(counts.units(), 4.0);
  EXPECT_EQ(counts.sum(), -0.5);
  EXPECT_EQ(counts.lift(), -0.125);
  EXPECT_EQ(counts.Mirrored().Times(2.0).sum(), 1.0);
  EXPECT_TRUE(counts.Mirrored().Mirrored() == counts);
}

TEST(UnitCounts, FractionsAreInLowestTerms) {
  UnitCounts counts;
  counts.Add(6, 4);
  counts.Add(3, 2);
  counts.Add(7, 0);
  ASSERT_EQ(counts.entries().size(), 2U);
  EXPECT_EQ(counts.entries().front().size, 1);
  EXPECT_EQ(counts.entries().back().sum, 2);
  EXPECT_EQ(counts.entries().back().count, 2.0);
}

TEST(UnitCounts, SinglePairsGiveTheSameEvidence) {
  UnitCounts units;
  units.Add(1, 1, 12.0);
  units.Add(1, 0, 7.0);
  units.Add(1, -1, 3.0);
  EXPECT_NEAR(std::exp(LogEvidence(units)), 64839.0 / 7280.0, 1e-11);
  EXPECT_DOUBLE_EQ(LogEvidence(units, 0.05), LogEvidence(PairCounts{12, 7, 3}, 0.05));
}

// Three copies of a win are one bet: ∫(1 + u) du = 3/2, not ∫(1 + u)³ du = 15/4.
TEST(UnitCounts, CopiesAreOneBet) {
  UnitCounts copies;
  copies.Add(3, 3);
  EXPECT_NEAR(std::exp(LogEvidence(copies)), 1.5, 1e-12);
  copies.Add(3, 1);  // ∫(1 + u)(1 + u/3) du
  EXPECT_NEAR(std::exp(LogEvidence(copies)), 16.0 / 9.0, 1e-12);
}

// One unit of three pairs that loses and three single ones that gain; the mean over units is 0, so E gains nothing on
// average.
TEST(UnitCounts, EvidenceIsASupermartingaleAcrossSizes) {
  const double up = 0.6;        // of each single pair; mean 0.2 each
  const double large_up = 0.2;  // of the unit of three pairs; mean −0.6
  double mean = 0.0;
  for (int ups = 0; ups <= 3; ++ups) {
    const double choose = ups == 1 || ups == 2 ? 3.0 : 1.0;
    const double chance = choose * std::pow(up, ups) * std::pow(1.0 - up, 3 - ups);
    for (const bool large : {true, false}) {
      UnitCounts counts;
      counts.Add(1, 1, ups);
      counts.Add(1, -1, 3 - ups);
      counts.Add(3, large ? 3 : -3);
      mean += chance * (large ? large_up : 1.0 - large_up) * std::exp(LogEvidence(counts));
    }
  }
  EXPECT_LE(mean, 1.0);
}

}  // namespace
}  // namespace upskill
