// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/progress_line.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "util/text.h"

namespace upskill {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

RunProgress Halfway() {
  RunProgress progress;
  progress.total = 72;
  progress.done = 35;
  progress.errors = 1;
  progress.output_tokens = 2376;
  progress.seconds = 18.0;
  return progress;
}

TEST(ProgressText, At100Columns) {
  EXPECT_EQ(ProgressText(Halfway(), {false, 100}, true),
            "  36/72 ━━━━━━━━━━━━━━━                  0:18 left   132 tok/s   1 error");
}

TEST(ProgressText, At60Columns) {
  EXPECT_EQ(ProgressText(Halfway(), {false, 60}, true), "  36/72 ━━━━━        0:18 left   132 tok/s   1 error");
}

TEST(ProgressText, NeverReachesTheLastColumn) {
  for (const std::size_t columns : {0U, 1U, 2U, 10U, 20U, 40U, 41U}) {
    const std::string text = ProgressText(Halfway(), {false, columns}, true);
    EXPECT_LE(DisplayColumns(text), columns == 0 ? 0 : columns - 1);
  }
  EXPECT_EQ(ProgressText(Halfway(), {false, 20}, false), "  36/72   0:18 lef…");
}

TEST(ProgressText, WithoutABar) {
  EXPECT_EQ(ProgressText(Halfway(), {false, 100}, false), "  36/72   0:18 left   132 tok/s   1 error");
}

TEST(ProgressText, BeginsWithTheEarliestStop) {
  RunProgress progress = Halfway();
  progress.may_be_saved = 30;
  EXPECT_EQ(ProgressText(progress, {false, 100}, false), "  36/72   0:03 to 0:18 left   132 tok/s   1 error");
}

TEST(ProgressText, SaysWhatRateLimitsHoldUp) {
  RunProgress progress;
  progress.total = 8;
  progress.rate_limits = {12, "api.example.com", 29.2};
  EXPECT_EQ(ProgressText(progress, {false, 100}, true),
            "  0/8   rate-limited by api.example.com (12 times), next try in 30 s   0 errors");
  progress.rate_limits = {1, "api.example.com", 0.0};
  EXPECT_EQ(ProgressText(progress, {false, 100}, false), "  0/8    0 errors");
  EXPECT_EQ(RateLimitsText(progress.rate_limits), "rate-limited by api.example.com (once)");
}

TEST(ProgressLine, InAPipeRateLimitsAreNotedEveryHalfMinute) {
  std::vector<std::string> lines;
  ProgressLine line({false, 100}, false, [&](const TerminalText& text) { lines.push_back(text.text()); });
  RunProgress progress;
  progress.total = 8;
  progress.rate_limits = {1, "h:1", 1.5};
  line.OnProgress(progress);
  EXPECT_THAT(lines, IsEmpty()) << "a short wait";
  for (int second = 0; second < 61; ++second) {
    progress.seconds = second;
    progress.rate_limits = {2, "h:1", 4.0};
    line.OnProgress(progress);
  }
  EXPECT_THAT(lines, SizeIs(3));
  EXPECT_EQ(lines.front(), "  rate-limited by h:1 (2 times), next try in 4 s\n");
}

TEST(ProgressText, BeforeAnythingIsKnown) {
  RunProgress progress;
  progress.total = 1234;
  EXPECT_EQ(ProgressText(progress, {false, 100}, false), "  0/1,234    0 errors");
  progress.total = 0;
  EXPECT_EQ(ProgressText(progress, {false, 60}, true), "  0/0 ━━━━━━━━━━    0 errors");
}

TEST(ProgressText, ReusedCellsDoNotSpeedUpTheEstimate) {
  RunProgress progress;
  progress.total = 100;
  progress.done = 60;
  progress.reused = 50;
  progress.seconds = 10.0;  // ten in ten seconds, forty to go
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), HasSubstr("0:40 left"));
  progress.done = 50;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), Not(HasSubstr("left")));
}

TEST(ProgressText, TheFirstAnswersGiveARange) {
  RunProgress progress;
  progress.total = 32;
  progress.in_flight = progress.worked_on = 8;
  progress.seconds = 60.0;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), HasSubstr("8 requests in flight, no answer yet after 1:00"));
  progress.done = progress.reused = 3;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), HasSubstr("no new answer yet"));
  progress.in_flight = progress.worked_on = 0;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), Not(HasSubstr("answer yet"))) << "nothing has been asked";
  progress.done = progress.reused = 0;
  progress.in_flight = progress.worked_on = 8;
  WrittenTokens written;
  written.tokens = 300;
  written.most = 512;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false, &written), HasSubstr("at 300 of 512 tokens"));
  progress.done = 1;
  progress.output_tokens = 500;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), HasSubstr("2:55 to 9:40 left"));
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), Not(HasSubstr("tok/s")));
}

TEST(ProgressText, RequestsThatWaitForTheirModelHaventBegun) {
  RunProgress progress;
  progress.total = progress.in_flight = 64;
  progress.worked_on = 32;
  progress.seconds = 60.0;
  progress.done = 1;
  EXPECT_THAT(ProgressText(progress, {false, 100}, false), HasSubstr("1:09 to 6:07 left"));
}

TEST(ProgressLine, InAPipeThereIsALineEveryTenSeconds) {
  std::vector<std::string> lines;
  ProgressLine line({false, 100}, false, [&](const TerminalText& text) { lines.push_back(text.text()); });
  RunProgress progress;
  progress.total = 8;
  progress.in_flight = 8;
  for (int second = 0; second <= 60; ++second) {
    progress.seconds = second;
    line.OnProgress(progress);
  }
  EXPECT_THAT(lines, SizeIs(6));
}

TEST(ProgressText, RetriesAndTheEnd) {
  RunProgress progress = Halfway();
  progress.retries = 4;
  progress.done = 72;
  progress.errors = 0;
  EXPECT_EQ(ProgressText(progress, {false, 100}, false), "  72/72    132 tok/s   0 errors, 4 retried");
}

class Written {
 public:
  ProgressLine Line(bool live) {
    return {{false, 60}, live, [this](const TerminalText& text) { texts.push_back(text.text()); }};
  }
  std::vector<std::string> texts;
};

RunProgress At(std::size_t done, double seconds) {
  RunProgress progress;
  progress.total = 100;
  progress.done = done;
  progress.seconds = seconds;
  return progress;
}

TEST(ProgressLine, LiveRedrawsOneLine) {
  Written written;
  ProgressLine line = written.Line(true);
  line.OnProgress(At(1, 0.0));
  line.OnProgress(At(2, 0.05));  // too soon
  line.OnProgress(At(3, 0.2));
  line.OnProgress(At(100, 0.21));  // the end is always shown
  EXPECT_THAT(written.texts, SizeIs(3));
  EXPECT_THAT(written.texts, Each(StartsWith("\r\x1b[K  ")));
  EXPECT_THAT(written.texts, Each(Not(HasSubstr("\n"))));
  EXPECT_THAT(written.texts.back(), HasSubstr("100/100"));
  line.Clear();
  line.Clear();
  EXPECT_THAT(written.texts, SizeIs(4));
  EXPECT_EQ(written.texts.back(), "\r\x1b[K");
}

TEST(ProgressLine, PlainLinesNowAndThen) {
  Written written;
  ProgressLine line = written.Line(false);
  line.OnProgress(At(5, 3.0));     // no tenth yet
  line.OnProgress(At(10, 3.1));    // shown
  line.OnProgress(At(20, 4.0));    // too soon
  line.OnProgress(At(25, 5.2));    // shown
  line.OnProgress(At(34, 9.0));    // no tenth since
  line.OnProgress(At(100, 20.0));  // the result says it
  line.Clear();
  EXPECT_THAT(written.texts, ElementsAre(StartsWith("  10/100 "), StartsWith("  25/100 ")));
  for (const std::string& text : written.texts) {
    EXPECT_THAT(text, testing::EndsWith("\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\r")));
  }
}

TEST(ProgressLine, NothingToDo) {
  Written written;
  ProgressLine line = written.Line(false);
  line.OnProgress(RunProgress{});
  EXPECT_THAT(written.texts, IsEmpty());
}

TEST(ProgressLine, Stopping) {
  Written written;
  ProgressLine line = written.Line(true);
  line.OnProgress(At(1, 0.0));
  RunProgress progress = At(1, 1.0);
  progress.in_flight = 8;
  line.OnStopping(progress, false);
  line.OnStopping(progress, true);
  EXPECT_THAT(written.texts, ElementsAre(StartsWith("\r\x1b[K  1/100"), "\r\x1b[K",
                                         "stopping: finishing 8 requests in flight (Ctrl-C again to drop them)\n",
                                         "stopping now: requests in flight are dropped\n"));
}

}  // namespace
}  // namespace upskill
