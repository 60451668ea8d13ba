// SPDX-License-Identifier: Apache-2.0
#include "stats/pass_at_k.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace upskill
