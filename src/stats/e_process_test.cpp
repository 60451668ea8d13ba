// SPDX-License-Identifier: Apache-2.0
#include "stats/e_process.h"

#include <gtest/gtest.h>

#include <cmath>

namespace upskill {
namespace {

// Exact values: the integrand is a polynomial, integrated term by term in rational arithmetic (Python fractions).
TEST(Evidence, EqualsTheExactIntegral) {
  EXPECT_DOUBLE_EQ(Evidence({}), 1.0);
  EXPECT_NEAR(Evidence({1, 0, 0}), 1.5, 1e-12);
  EXPECT_NEAR(Evidence({0, 0, 1}), 0.5, 1e-12);
  EXPECT_NEAR(Evidence({5, 0, 1}), 20.0 / 7.0, 1e-11);
  EXPECT_NEAR(Evidence({12, 7, 3}), 64839.0 / 7280.0, 1e-11);
  EXPECT_NEAR(Evidence({3, 4, 12}), 697.0 / 7280.0, 1e-13);
  EXPECT_NEAR(Evidence({30, 5, 10}), 274678552977.0 / 4344260206.0, 1e-10);
}

TEST(Evidence, EqualsTheExactIntegralWithMargin) {
  EXPECT_NEAR(Evidence({5, 3, 1}, 0.05), 2.253780786958508, 1e-11);
  EXPECT_NEAR(Evidence({2, 20, 1}, -0.1), 2.997592027869808, 1e-11);
  EXPECT_NEAR(Evidence({10, 0, 0}, 0.5), 6.184627866840944, 1e-11);
  EXPECT_NEAR(Evidence({4, 30, 4}, -0.25), 40.95225949650992, 1e-10);
  EXPECT_NEAR(Evidence({1, 10, 1}, 0.9), 0.15937169990878639, 1e-12);
}

// ∫(1+λ)^n = (2^(n+1) − 1)/(n+1), ∫(1−λ)^n = 1/(n+1), ∫(1−λ²)^n = 4^n n!²/(2n+1)!.
TEST(Evidence, HoldsForAMillionPairs) {
  EXPECT_NEAR(LogEvidence({1e6, 0, 0}), 693134.0581955679, 1e-6);
  EXPECT_NEAR(LogEvidence({0, 0, 1e6}), -std::log(1e6 + 1.0), 1e-11);
  EXPECT_NEAR(LogEvidence({5e5, 0, 5e5}), -6.681964674964547, 1e-7);  // the reference value lost digits to cancellation
  EXPECT_NEAR(LogEvidence({0, 1e6, 0}), 0.0, 1e-12);
  EXPECT_TRUE(std::isfinite(LogEvidence({1e6, 1e6, 1e6}, 0.01)));
  EXPECT_TRUE(std::isfinite(LogEvidence({1e6, 1e6, 1e6}, -1.0)));
  EXPECT_TRUE(std::isfinite(LogEvidence({1e6, 1e6, 1e6}, 1.0)));
  EXPECT_TRUE(std::isfinite(Evidence({1e6, 0, 0})));
}

TEST(Evidence, FallsWithTheMargin) {
  for (const PairCounts& counts :
       {PairCounts{7, 20, 3}, PairCounts{0, 9, 0}, PairCounts{40, 0, 0}, PairCounts{0, 3, 8}}) {
    double before = LogEvidence(counts, -0.999);
    for (double margin = -0.9; margin < 1.0; margin += 0.05) {
      const double now = LogEvidence(counts, margin);
      EXPECT_LT(now, before + 1e-12) << margin;
      before = now;
    }
  }
}

// The expected factor of one more pair is at most 1 if its mean difference is at most the margin.
TEST(Evidence, IsASupermartingaleUnderTheNull) {
  const double margin = 0.2;
  const double win = 0.35;  // mean difference 0.35 − 0.15 = 0.2
  const double loss = 0.15;
  for (const PairCounts& now : {PairCounts{0, 0, 0}, PairCounts{9, 2, 1}, PairCounts{3, 30, 5}}) {
    const double next = win * Evidence({now.wins + 1, now.ties, now.losses}, margin) +
                        (1.0 - win - loss) * Evidence({now.wins, now.ties + 1, now.losses}, margin) +
                        loss * Evidence({now.wins, now.ties, now.losses + 1}, margin);
    EXPECT_NEAR(next / Evidence(now, margin), 1.0, 1e-10);
  }
}

TEST(LiftSequence, EndsWhereTheEvidenceReachesTheThreshold) {
  LiftSequence sequence(0.05);
  const PairCounts totals{30, 60, 10};
  sequence.Add(totals);
  const Interval range = sequence.range();
  EXPECT_LT(range.low, 0.2);
  EXPECT_GT(range.high, 0.2);
  EXPECT_NEAR(LogEvidence(totals, range.low), std::log(40.0), 2e-3);
  EXPECT_NEAR(LogEvidence(totals.Mirrored(), -range.high), std::log(40.0), 2e-3);
}

TEST(LiftSequence, OnlyShrinks) {
  LiftSequence sequence(0.05);
  sequence.Add({20, 0, 0});
  const Interval first = sequence.range();
  EXPECT_GT(first.low, 0.0);
  EXPECT_EQ(first.high, 1.0);
  sequence.Add({20, 0, 20});
  EXPECT_GE(sequence.range().low, first.low);
  EXPECT_LE(sequence.range().high, first.high);
}

TEST(LiftSequence, RangeWithContradictingRoundsContainsTheLift) {
  LiftSequence sequence(0.05);
  sequence.Add({0, 200, 0});
  const UnitCounts totals(PairCounts{40, 200, 0});
  sequence.Add(totals);
  ASSERT_LT(sequence.range().high, totals.lift());
  EXPECT_LT(sequence.RangeWith(totals).low, totals.lift());
  EXPECT_GT(sequence.RangeWith(totals).high, totals.lift());
  EXPECT_LE(sequence.RangeWith(totals).low, sequence.range().low);
}

TEST(LiftSequence, IsEverythingWithoutData) {
  LiftSequence sequence(0.05);
  sequence.Add(PairCounts{});
  EXPECT_EQ(sequence.range().low, -1.0);
  EXPECT_EQ(sequence.range().high, 1.0);
}

TEST(LiftSequence, ManyTiesShowThatThereIsNoEffect) {
  LiftSequence sequence(0.05);
  sequence.Add({0, 200, 0});
  EXPECT_GT(sequence.range().low, -0.05);
  EXPECT_LT(sequence.range().high, 0.05);
}

}  // namespace
}  // namespace upskill
