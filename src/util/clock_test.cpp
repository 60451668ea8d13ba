// SPDX-License-Identifier: Apache-2.0
#include "util/clock.h"

#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <limits>

namespace upskill {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::MatchesRegex;

Clock::Wall WallAt(long long unix_seconds) { return Clock::Wall(seconds(unix_seconds)); }

TEST(Clock, SecondsBetweenKeepsFractionsAndSign) {
  const Clock::Steady start{seconds(5)};
  EXPECT_DOUBLE_EQ(SecondsBetween(start, start + milliseconds(1500)), 1.5);
  EXPECT_DOUBLE_EQ(SecondsBetween(start, start - milliseconds(250)), -0.25);
  EXPECT_DOUBLE_EQ(SecondsBetween(start, start), 0.0);
}

TEST(Clock, UtcTimestamp) {
  EXPECT_EQ(UtcTimestamp(WallAt(0)), "1970-01-01T00:00:00Z");
  EXPECT_EQ(UtcTimestamp(WallAt(1795255953)), "2026-11-21T10:12:33Z");
  EXPECT_EQ(UtcTimestamp(WallAt(1709251199)), "2024-02-29T23:59:59Z");  // a leap day
  EXPECT_EQ(UtcTimestamp(WallAt(0) + milliseconds(999)), "1970-01-01T00:00:00Z");
}

TEST(Clock, FolderTimestampIsLocalAndSortable) {
  const std::string text = FolderTimestamp(WallAt(1795255953));
  EXPECT_THAT(text, MatchesRegex("2026_11_2[012]_[0-9][0-9]_[0-9][0-9]_33"));
  EXPECT_LT(text, FolderTimestamp(WallAt(1795255954)));
}

TEST(Clock, DurationText) {
  EXPECT_EQ(DurationText(0), "0:00");
  EXPECT_EQ(DurationText(17.2), "0:18");
  EXPECT_EQ(DurationText(59.5), "1:00");
  EXPECT_EQ(DurationText(3599), "59:59");
  EXPECT_EQ(DurationText(3599.5), "1:00:00");
  EXPECT_EQ(DurationText(3723), "1:02:03");
  EXPECT_EQ(DurationText(360000), "100:00:00");
}

TEST(Clock, DurationTextOfInvalidNumbers) {
  EXPECT_EQ(DurationText(-5), "0:00");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::quiet_NaN()), "0:00");
  EXPECT_EQ(DurationText(std::numeric_limits<double>::infinity()), "277777777:46:40");
}

TEST(Clock, SystemClockGoesOn) {
  const SystemClock clock;
  const Clock::Steady before = clock.Now();
  EXPECT_GE(SecondsBetween(before, clock.Now()), 0.0);
  EXPECT_GT(clock.WallNow(), WallAt(1700000000));
}

}  // namespace
}  // namespace upskill
