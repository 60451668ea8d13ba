// SPDX-License-Identifier: Apache-2.0
#include "llama/thread_governor.h"

#include <gtest/gtest.h>

#include <utility>

namespace upskill {
namespace {

// Wall-clock seconds, in batches of a tenth, until the governor tries `threads` again.
double RestUntil(ThreadGovernor& governor, int threads) {
  int batches = 0;
  while (governor.threads() != threads && batches < 1000) {
    governor.Record(0.1, 0.1 * governor.threads());
    ++batches;
  }
  return 0.1 * batches;
}

TEST(ThreadGovernor, StaysWhileThreadsGetTheirProcessors) {
  ThreadGovernor governor(4);
  EXPECT_EQ(governor.threads(), 4);
  for (int i = 0; i < 100; ++i) governor.Record(0.1, 0.33);
  EXPECT_EQ(governor.threads(), 4);
}

TEST(ThreadGovernor, TakesAsManyAsThereWasTimeFor) {
  for (const auto& [processor_seconds, expected] :
       {std::pair{0.25, 2}, std::pair{0.31, 3}, std::pair{0.15, 1}, std::pair{0.01, 1}}) {
    ThreadGovernor governor(4);
    governor.Record(0.1, processor_seconds);
    EXPECT_EQ(governor.threads(), expected) << processor_seconds;
  }
}

TEST(ThreadGovernor, TriesAnotherNumberAtOnce) {
  ThreadGovernor governor(4);
  governor.SetMost(2);
  EXPECT_EQ(governor.threads(), 2);
  governor.Record(0.1, 0.1);
  EXPECT_EQ(governor.threads(), 1);
  governor.SetMost(2);  // the same as before
  EXPECT_EQ(governor.threads(), 1);
  governor.SetMost(4);
  EXPECT_EQ(governor.threads(), 4);
}

TEST(ThreadGovernor, AlwaysReleasesAtLeastOne) {
  ThreadGovernor governor(8);
  governor.Record(0.1, 0.63);  // of 0.8
  EXPECT_EQ(governor.threads(), 6);
  ThreadGovernor two(2);
  two.Record(0.1, 0.159);
  EXPECT_EQ(two.threads(), 1);
}

TEST(ThreadGovernor, ShortBatchesSayNothing) {
  ThreadGovernor governor(2);
  for (int i = 0; i < 100; ++i) governor.Record(0.004, 0.0);
  EXPECT_EQ(governor.threads(), 2);
}

TEST(ThreadGovernor, OneThreadIsLeftAlone) {
  ThreadGovernor governor(1);
  for (int i = 0; i < 100; ++i) governor.Record(0.1, 0.0);
  EXPECT_EQ(governor.threads(), 1);
}

TEST(ThreadGovernor, RestsLongerEachTimeUpToALimit) {
  ThreadGovernor governor(2);
  for (const double expected : {2.0, 4.0, 8.0, 16.0, 30.0, 30.0}) {
    governor.Record(0.1, 0.1);
    EXPECT_EQ(governor.threads(), 1);
    EXPECT_NEAR(RestUntil(governor, 2), expected, 0.11);
  }
}

TEST(ThreadGovernor, ForgetsSlowly) {
  ThreadGovernor governor(2);
  for (int i = 0; i < 5; ++i) {
    governor.Record(0.1, 0.1);
    RestUntil(governor, 2);
  }
  for (int i = 0; i < 100; ++i) governor.Record(0.1, 0.2);
  governor.Record(0.1, 0.1);
  EXPECT_NEAR(RestUntil(governor, 2), 2.0, 0.11);
}

}  // namespace
}  // namespace upskill
