// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/input_clusters.h"

#include <gmock/gmock.h>

namespace upskill {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(InputClusters, CasesWithTheSameRequestAreTogether) {
  Suite suite;
  suite.cases.resize(6);
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    suite.cases[i].id = "case-" + std::to_string(i);
    suite.cases[i].input = i % 2 == 0 ? "even" : "odd";
  }
  suite.cases[5].files = {{"a.txt", "content"}};
  EXPECT_THAT(InputClusters(suite, {0, 1, 2, 3, 4, 5}), ElementsAre(0, 1, 0, 1, 0, 2));
  EXPECT_THAT(InputClusters(suite, {5, 3, 4}), ElementsAre(0, 1, 2));
  EXPECT_THAT(InputClusters(suite, {}), IsEmpty());
  EXPECT_THAT(FirstOfEachInput(suite), ElementsAre(0, 1, 5));
}

}  // namespace
}  // namespace upskill
