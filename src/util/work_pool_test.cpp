// SPDX-License-Identifier: Apache-2.0
#include "util/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <vector>

namespace upskill {
namespace {

TEST(WorkPool, DoesEverythingInOrderOnOneThread) {
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  {
    WorkPool thread;
    for (int i = 0; i < 100; ++i) {
      thread.Post([&, i] {
        done.push_back(i);
        threads.push_back(std::this_thread::get_id());
        if (i == 50) thread.Post([&] { done.push_back(1000); });
      });
    }
  }
  ASSERT_EQ(done.size(), 101U);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(done[static_cast<std::size_t>(i)], i);
  for (const std::thread::id& id : threads) EXPECT_EQ(id, threads.front());
  EXPECT_NE(threads.front(), std::this_thread::get_id());
}

TEST(WorkPool, NeedsNoWork) { const WorkPool thread; }

TEST(WorkPool, WorksOnSeveralAtOnce) {
  constexpr int kThreads = 3;
  std::latch together(kThreads);  // passed only if all are there at once
  std::atomic<int> done{0};
  {
    WorkPool pool(kThreads);
    for (int i = 0; i < 2 * kThreads; ++i) {
      pool.Post([&, i] {
        if (i < kThreads) together.arrive_and_wait();
        ++done;
      });
    }
  }
  EXPECT_EQ(done, 2 * kThreads);
}

}  // namespace
}  // namespace upskill
