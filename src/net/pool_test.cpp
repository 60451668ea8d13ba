// SPDX-License-Identifier: Apache-2.0
#include "net/pool.h"

#include <gtest/gtest.h>

namespace upskill {
namespace {

using std::chrono::milliseconds;

Pool MakePool(std::size_t members, int max_in_flight) { return Pool(members, max_in_flight, milliseconds(100), 7); }

// Sends until all slots are taken; how many went out.
int Fill(Pool& pool) {
  int sent = 0;
  while (const auto member = pool.Choose({})) {
    pool.Sent(*member);
    ++sent;
  }
  return sent;
}

TEST(Pool, StartsAtItsMaximumAndStaysThere) {
  Pool pool = MakePool(1, 8);
  EXPECT_EQ(pool.concurrency(), 8);
  for (int i = 0; i < 100; ++i) {
    Fill(pool);
    pool.Succeeded(0);
  }
  EXPECT_EQ(pool.concurrency(), 8);
  EXPECT_EQ(Fill(pool), 1);
  EXPECT_TRUE(pool.full());
}

TEST(Pool, HalvesOncePerBurstOfRateLimits) {
  Pool pool = MakePool(1, 16);
  std::vector<std::uint64_t> windows;
  windows.reserve(16);
  for (int i = 0; i < 16; ++i) windows.push_back(pool.Sent(0));
  for (const std::uint64_t window : windows) pool.Limited(0, window, std::nullopt);
  EXPECT_EQ(pool.concurrency(), 8);
  for (int i = 0; i < 16; ++i) pool.EndPause(0);
  pool.Limited(0, pool.Sent(0), std::nullopt);
  EXPECT_EQ(pool.concurrency(), 4);
}

TEST(Pool, NeverFallsBelowOne) {
  Pool pool = MakePool(1, 4);
  for (int i = 0; i < 10; ++i) {
    pool.Limited(0, pool.Sent(0), std::nullopt);
    pool.EndPause(0);
  }
  EXPECT_EQ(pool.concurrency(), 1);
}

TEST(Pool, GrowsByOnePerRoundOfAnswers) {
  Pool pool = MakePool(1, 16);
  pool.Limited(0, pool.Sent(0), std::nullopt);
  pool.EndPause(0);
  ASSERT_EQ(pool.concurrency(), 8);
  Fill(pool);
  for (int i = 0; i < 9; ++i) {
    pool.Succeeded(0);
    Fill(pool);
  }
  EXPECT_EQ(pool.concurrency(), 9);
}

TEST(Pool, DoesNotGrowWhileItIsNotUsed) {
  Pool pool = MakePool(1, 16);
  pool.Limited(0, pool.Sent(0), std::nullopt);
  pool.EndPause(0);
  for (int i = 0; i < 100; ++i) {
    pool.Sent(0);
    pool.Succeeded(0);
  }
  EXPECT_EQ(pool.concurrency(), 8);
}

TEST(Pool, BacksOffExponentiallyWithJitter) {
  Pool pool = MakePool(1, 16);
  for (const int units : {1, 2, 4, 8, 16, 16}) {
    const milliseconds wait = pool.Limited(0, pool.Sent(0), std::nullopt);
    pool.EndPause(0);
    EXPECT_LE(wait.count(), 100 * units);
    EXPECT_GE(wait.count(), 75 * units);
  }
  pool.Sent(0);
  pool.Succeeded(0);
  EXPECT_LE(pool.Limited(0, pool.Sent(0), std::nullopt).count(), 100);
}

TEST(Pool, UsesTheRequestedDelay) {
  Pool pool = MakePool(1, 16);
  EXPECT_EQ(pool.Limited(0, pool.Sent(0), milliseconds(5)), milliseconds(5));
  pool.EndPause(0);
  EXPECT_EQ(pool.Limited(0, pool.Sent(0), milliseconds(7000)), milliseconds(7000));
}

TEST(Pool, StopsTrustingADelayThatIsNeverEnough) {
  Pool pool = MakePool(1, 16);
  milliseconds wait{0};
  for (int i = 0; i < 5; ++i) {
    wait = pool.Limited(0, pool.Sent(0), milliseconds(0));
    pool.EndPause(0);
  }
  EXPECT_GT(wait.count(), 1000);
}

TEST(Pool, LeavesAPausedMemberAlone) {
  Pool pool = MakePool(1, 4);
  const auto first = pool.Sent(0);
  const auto second = pool.Sent(0);
  pool.Limited(0, first, std::nullopt);
  pool.Limited(0, second, std::nullopt);
  pool.EndPause(0);
  EXPECT_EQ(pool.Choose({}), std::nullopt);  // the other pause goes on
  pool.EndPause(0);
  EXPECT_EQ(pool.Choose({}), 0U);
}

TEST(Pool, SharesEvenly) {
  Pool pool = MakePool(4, 16);
  std::vector<int> sent(4);
  while (const auto member = pool.Choose({})) {
    pool.Sent(*member);
    ++sent[*member];
  }
  EXPECT_EQ(sent, (std::vector<int>{4, 4, 4, 4}));
}

TEST(Pool, SendsPastAMemberThatAsksToWait) {
  Pool pool = MakePool(2, 16);
  pool.Limited(0, pool.Sent(0), std::nullopt);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(pool.Choose({}), 1U);
    pool.Sent(1);
  }
  EXPECT_EQ(pool.Choose({}), std::nullopt);
}

TEST(Pool, LeavesOutAMemberThatFailed) {
  Pool pool = MakePool(2, 16);
  pool.Sent(0);
  const auto absence = pool.Failed(0);
  ASSERT_TRUE(absence.has_value());
  EXPECT_EQ(pool.Choose({}), 1U);
  pool.EndAbsence(0);
  EXPECT_EQ(pool.Choose({}), 0U);
  pool.Sent(0);  // on probation: one at a time
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(pool.Choose({}), 1U);
    pool.Sent(1);
  }
  EXPECT_GT(pool.Failed(0), absence);
}

TEST(Pool, GivesARecoveredMemberItsShareBack) {
  Pool pool = MakePool(2, 16);
  pool.Sent(0);
  pool.Failed(0);
  pool.EndAbsence(0);
  EXPECT_EQ(pool.concurrency(), 9);
  pool.Sent(0);
  pool.Succeeded(0);
  EXPECT_EQ(pool.concurrency(), 16);
}

TEST(Pool, UsesFailedMembersWhenNoOtherIsLeft) {
  Pool pool = MakePool(2, 16);
  pool.Sent(0);
  pool.Failed(0);
  pool.Sent(1);
  pool.Failed(1);
  EXPECT_TRUE(pool.Choose({}).has_value());
}

TEST(Pool, NeverLeavesOutALoneServer) {
  Pool pool = MakePool(1, 4);
  pool.Sent(0);
  EXPECT_EQ(pool.Failed(0), std::nullopt);
  EXPECT_EQ(pool.concurrency(), 4);
  EXPECT_EQ(pool.Choose({}), 0U);
}

// Sends a request with these prefixes; where it went.
std::size_t Send(Pool& pool, const Prefixes& prefixes) {
  const std::optional<std::size_t> member = pool.Choose({}, prefixes);
  EXPECT_TRUE(member.has_value());
  if (member) pool.Sent(*member, prefixes);
  return member.value_or(99);
}

TEST(Pool, PrefersTheMemberThatHasThePrefix) {
  Pool pool = MakePool(3, 12);
  EXPECT_EQ(Send(pool, {1}), 0U);
  EXPECT_EQ(Send(pool, {2}), 1U);
  EXPECT_EQ(Send(pool, {2}), 1U);
  pool.Succeeded(0);
  pool.Succeeded(1);
  pool.Succeeded(1);
  for (int i = 0; i < 5; ++i) {  // one after the other
    EXPECT_EQ(Send(pool, {2}), 1U);
    pool.Succeeded(1);
    EXPECT_EQ(Send(pool, {1}), 0U);
    pool.Succeeded(0);
  }
  EXPECT_EQ(Send(pool, {3}), 2U) << "the member that has nobody's prefix";
}

TEST(Pool, PrefersALongerPrefix) {
  Pool pool = MakePool(2, 16);
  EXPECT_EQ(Send(pool, {11, 1}), 0U);
  EXPECT_EQ(Send(pool, {12, 1}), 0U);
  pool.Sent(1, {13, 1});
  EXPECT_EQ(Send(pool, {11, 1}), 0U) << "although 1 is less busy and has the shorter one";
  EXPECT_EQ(Send(pool, {14, 1}), 1U);
}

TEST(Pool, LeavesThePrefixIfItsMemberIsClearlyBusier) {
  Pool pool = MakePool(2, 16);  // 8 each: two more than another member are tolerated
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Send(pool, {1}), 0U);
  EXPECT_EQ(Send(pool, {1}), 1U);
  for (int i = 0; i < 12; ++i) Send(pool, {1});
  EXPECT_TRUE(pool.full());
}

TEST(Pool, ForgetsThePrefixesOfAMemberThatFailed) {
  Pool pool = MakePool(2, 16);
  EXPECT_EQ(Send(pool, {1}), 0U);
  pool.Failed(0);
  EXPECT_EQ(Send(pool, {1}), 1U);
  pool.EndAbsence(0);
  pool.Succeeded(1);
  EXPECT_EQ(Send(pool, {1}), 1U);
}

TEST(Pool, RemembersTheLatestPrefixes) {
  Pool pool = MakePool(2, 16);
  const auto once = [&](std::uint64_t prefix, std::size_t member) {
    pool.Sent(member, {prefix});
    pool.Succeeded(member);
  };
  once(1, 0);
  once(2, 0);
  for (std::uint64_t prefix = 100; prefix < 611; ++prefix) once(prefix, 0);
  EXPECT_EQ(pool.Choose({}, {1}), 1U);
  EXPECT_EQ(pool.Choose({}, {2}), 0U);
}

TEST(Pool, KeepsARequestFromMembersItCouldNotReach) {
  const Pool pool = MakePool(2, 4);
  EXPECT_EQ(pool.Choose({0}), 1U);
  EXPECT_EQ(pool.Choose({0, 1}), std::nullopt);
  EXPECT_TRUE(pool.HasOther({0}));
  EXPECT_FALSE(pool.HasOther({0, 1}));
}

}  // namespace
}  // namespace upskill
