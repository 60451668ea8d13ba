// SPDX-License-Identifier: Apache-2.0
#include "stats/clusters.h"

#include <gmock/gmock.h>

#include "stats/interval.h"
#include "util/rng.h"

namespace upskill {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ClusterMeans, SingleValuesAreKept) {
  EXPECT_THAT(ClusterMeans({0.5, 0.0, 1.0}, {4, 2, 9}), ElementsAre(DoubleEq(0.5), DoubleEq(0.0), DoubleEq(1.0)));
  EXPECT_THAT(ClusterMeans({}, {}), IsEmpty());
}

TEST(ClusterMeans, EachClusterCountsOnce) {
  EXPECT_THAT(ClusterMeans({1.0, 0.0, 1.0, 0.0}, {7, 3, 7, 7}), ElementsAre(DoubleEq(2.0 / 3.0), DoubleEq(0.0)));
}

// Ten sources of four cases each, all cases of a source alike: an interval that takes them for independent covers less
// than it promises.
TEST(ClusterMeans, GiveAnIntervalThatCovers) {
  constexpr int kDraws = 400;
  int clustered = 0;
  int naive = 0;
  Rng rng(11);
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<double> lifts;
    std::vector<std::size_t> sources;
    for (std::size_t source = 0; source < 10; ++source) {
      const double lift = rng.Uniform() - 0.3;  // 0.2 on average
      for (int i = 0; i < 4; ++i) {
        lifts.push_back(lift);
        sources.push_back(source);
      }
    }
    clustered += MeanInterval(ClusterMeans(lifts, sources))->Contains(0.2) ? 1 : 0;
    naive += MeanInterval(lifts)->Contains(0.2) ? 1 : 0;
  }
  EXPECT_GT(clustered, kDraws * 92 / 100);
  EXPECT_LT(naive, kDraws * 85 / 100);
}

}  // namespace
}  // namespace upskill
