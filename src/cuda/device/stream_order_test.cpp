// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/stream_order.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

constexpr std::uint64_t kDefault = 0;

TEST(StreamOrder, WorkOnAStreamIsPendingUntilSomethingWaitsForIt) {
  StreamOrder order;
  const std::uint64_t stream = order.Make(true);
  EXPECT_EQ(order.Pending(), 0U);
  order.Work(stream);
  EXPECT_EQ(order.Pending(), 1U);
  order.SynchronizeStream(stream);
  EXPECT_EQ(order.Pending(), 0U);
  order.Work(stream);
  order.SynchronizeDevice();
  EXPECT_EQ(order.Pending(), 0U);
}

TEST(StreamOrder, TheDefaultStreamWaitsForThoseThatBlockItAlone) {
  StreamOrder order;
  const std::uint64_t blocking = order.Make(false);
  const std::uint64_t free = order.Make(true);
  order.Work(blocking);
  order.Work(free);
  order.Work(kDefault);
  EXPECT_EQ(order.Pending(), 1U);
  order.SynchronizeStream(kDefault);
  EXPECT_EQ(order.Pending(), 1U);
  order.SynchronizeStream(free);
  EXPECT_EQ(order.Pending(), 0U);
}

TEST(StreamOrder, AnEventStandsForTheWorkBeforeIt) {
  StreamOrder order;
  const std::uint64_t stream = order.Make(true);
  order.Work(stream);
  order.Record(7, stream);
  order.SynchronizeEvent(7);
  EXPECT_EQ(order.Pending(), 0U);
  order.Record(7, stream);
  order.Work(stream);
  order.SynchronizeEvent(7);
  EXPECT_EQ(order.Pending(), 1U) << "work after the event";
  order.SynchronizeEvent(8);  // which was never recorded
  EXPECT_EQ(order.Pending(), 1U);
}

TEST(StreamOrder, ForkAndJoinByEvents) {
  StreamOrder order;
  const std::uint64_t side = order.Make(true);
  order.Work(kDefault);
  order.Record(1, kDefault);
  order.WaitForEvent(side, 1);
  order.Work(side);
  order.Record(2, side);
  EXPECT_EQ(order.Pending(), 1U);
  order.WaitForEvent(kDefault, 2);
  EXPECT_EQ(order.Pending(), 0U);
}

TEST(StreamOrder, WhatAStreamWaitsForIsReachedWithIt) {
  StreamOrder order;
  const std::uint64_t first = order.Make(true);
  const std::uint64_t second = order.Make(true);
  order.Work(first);
  order.Record(1, first);
  order.WaitForEvent(second, 1);
  order.Work(second);
  order.SynchronizeStream(second);
  EXPECT_EQ(order.Pending(), 0U);
}

TEST(StreamOrder, AskingOnceIsNotWaiting) {
  StreamOrder order;
  const std::uint64_t stream = order.Make(true);
  EXPECT_TRUE(order.AskStream(stream));
  order.Work(stream);
  EXPECT_FALSE(order.AskStream(stream));
  EXPECT_EQ(order.Pending(), 1U);
  EXPECT_TRUE(order.AskStream(stream));
  EXPECT_EQ(order.Pending(), 0U);
  order.Record(3, stream);
  EXPECT_FALSE(order.AskEvent(3));
  EXPECT_TRUE(order.AskEvent(3));
  EXPECT_EQ(order.Pending(), 0U);
  EXPECT_TRUE(order.AskEvent(99));
  EXPECT_TRUE(order.AskStream(kDefault));
}

}  // namespace
}  // namespace upskill
