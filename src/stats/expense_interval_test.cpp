// SPDX-License-Identifier: Apache-2.0
#include "stats/expense_interval.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "stats/quantile.h"
#include "util/rng.h"

namespace upskill {
namespace {

// By hand: equal values vary by nothing, so all that is left is what may be missing.
TEST(ExpenseInterval, EqualValuesLeaveWhatMayBeMissing) {
  const std::vector<double> equal(36, 100.0);
  const auto interval = ExpenseInterval(equal, 0.0, 500.0);
  ASSERT_TRUE(interval.has_value());
  const double missing = std::log(40.0);
  EXPECT_NEAR(interval->high, (36 * 100.0 + missing * 500.0) / (36 + missing), 1e-9);
  EXPECT_NEAR(interval->low, 36 * 100.0 / (36 + missing), 1e-9);
  EXPECT_FALSE(ExpenseInterval({1.0}, 0.0, 2.0).has_value());
}

TEST(ExpenseInterval, IsStudentsWhereNoValueCanBeLarger) {
  const std::vector<double> values = {1.0, 2.0, 2.0, 3.0, 5.0};
  const auto wide = ExpenseInterval(values, 1.0, 5.0);
  ASSERT_TRUE(wide.has_value());
  EXPECT_GT(wide->high, 2.6 + StudentCritical(0.95, 4.0) * std::sqrt(2.3 / 5.0));
}

TEST(MostOfOneAnswer, ALongerOneTakesWhatItsTokensCost) {
  // 100 for the prompt and 2 for each token.
  EXPECT_DOUBLE_EQ(MostOfOneAnswer({120.0, 300.0}, {10.0, 100.0}, 500.0), 300.0 + 400.0 * 3.0);
  EXPECT_DOUBLE_EQ(MostOfOneAnswer({10.0, 600.0}, {10.0, 600.0}, 500.0), 600.0) << "an agent's answer of several turns";
  EXPECT_DOUBLE_EQ(MostOfOneAnswer({10.0, 30.0}, {0.0, 0.0}, 500.0), 30.0) << "no lengths are known";
}

// 3 % of the answers with A are 60 times as long: +177 % in truth, which a run of 12 to 120 answers often doesn't show.
// Student's t and Fieller's interval covered the truth in 38 % of such runs, and a gate on +20 % passed in 46 %.
TEST(ExpenseRatioInterval, ARunawayThatWasNotSeen) {
  constexpr double kShare = 0.03;
  constexpr double kMost = 60.0;
  constexpr double kTruth = 1.0 - kShare + kShare * kMost;
  for (const int cells : {12, 36, 120}) {
    Rng rng(static_cast<std::uint64_t>(cells));
    constexpr int kRuns = 400;
    int covers = 0;
    int passes = 0;
    for (int run = 0; run < kRuns; ++run) {
      std::vector<double> a;
      std::vector<double> b;
      for (int i = 0; i < cells; ++i) {
        a.push_back(rng.Uniform() < kShare ? kMost : 0.8 + 0.4 * rng.Uniform());
        b.push_back(0.8 + 0.4 * rng.Uniform());
      }
      const auto ratio = ExpenseRatioInterval(a, b, kMost);
      covers += !ratio || ratio->Contains(kTruth) ? 1 : 0;
      passes += ratio && ratio->high < 1.2 ? 1 : 0;
    }
    EXPECT_GE(covers, 0.935 * kRuns) << cells;
    EXPECT_EQ(passes, 0) << cells;
  }
}

// It isn't all doubt: many short answers that can't be much longer show a saving.
TEST(ExpenseRatioInterval, ShowsASavingWhereAnswersAreBounded) {
  std::vector<double> a;
  std::vector<double> b;
  Rng rng(1);
  for (int i = 0; i < 120; ++i) {
    a.push_back(50.0 + 20.0 * rng.Uniform());
    b.push_back(90.0 + 20.0 * rng.Uniform());
  }
  const auto ratio = ExpenseRatioInterval(a, b, 512.0);
  ASSERT_TRUE(ratio.has_value());
  EXPECT_TRUE(ratio->Contains(0.6));
  EXPECT_LT(ratio->high, 0.8);
  EXPECT_GT(ratio->low, 0.4);
}

TEST(ExpenseRatioInterval, IsNotClaimedWhereTheDivisorCouldBeZero) {
  EXPECT_FALSE(ExpenseRatioInterval({1.0, 2.0}, {0.0, 1.0}, 2.0).has_value());
  EXPECT_FALSE(ExpenseRatioInterval({1.0}, {1.0}, 2.0).has_value());
  EXPECT_FALSE(ExpenseRatioInterval({1.0, 1.0}, {0.0, 0.0}, 2.0).has_value());
}

}  // namespace
}  // namespace upskill
