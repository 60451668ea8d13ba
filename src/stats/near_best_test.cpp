// SPDX-License-Identifier: Apache-2.0
#include "stats/near_best.h"

#include <gmock/gmock.h>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of three choices at most two are far from the best: thresholds 2.5 %, 2.5 %, 5 %.
TEST(NearBest, StepsDown) {
  EXPECT_THAT(NearBest({0.024, 0.9, 0.024}, 0.05), ElementsAre(true, false, true));
  EXPECT_THAT(NearBest({0.026, 0.9, 0.026}, 0.05), ElementsAre(false, false, false));
  EXPECT_THAT(NearBest({0.049, 0.01, 0.02}, 0.05), ElementsAre(true, true, true));
  EXPECT_THAT(NearBest({}, 0.05), IsEmpty());
}

TEST(NearBest, TwoChoicesNeedNoCorrection) {
  EXPECT_THAT(NearBest({0.049, 0.9}, 0.05), ElementsAre(true, false));
  EXPECT_DOUBLE_EQ(NearBestAlpha(2, 0.05), 0.05);
  EXPECT_DOUBLE_EQ(NearBestAlpha(8, 0.05), 0.05 / 7.0);
}

}  // namespace
}  // namespace upskill
