// SPDX-License-Identifier: Apache-2.0
#include "util/work_thread.h"

#include <gtest/gtest.h>

#include <vector>

namespace upskill {
namespace {

TEST(WorkThread, DoesEverythingInOrderOnOneThread) {
  std::vector<int> done;
  std::vector<std::thread::id> threads;
  {
    WorkThread thread;
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

TEST(WorkThread, NeedsNoWork) { const WorkThread thread; }

}  // namespace
}  // namespace upskill
