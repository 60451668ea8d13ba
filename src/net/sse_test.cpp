// SPDX-License-Identifier: Apache-2.0
#include "net/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace upskill {
namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

// The events of a stream that comes in pieces of `size` bytes.
Events Parse(std::string_view stream, std::size_t size) {
  Events events;
  SseParser parser([&](const SseEvent& event) { events.emplace_back(event.name, event.data); });
  for (std::size_t at = 0; at < stream.size(); at += size) EXPECT_TRUE(parser.Feed(stream.substr(at, size)).ok());
  return events;
}

void ExpectHoweverCut(std::string_view stream, const Events& expected) {
  for (std::size_t size = 1; size <= stream.size(); ++size)
    EXPECT_EQ(Parse(stream, size), expected) << "pieces of " << size;
}

TEST(Sse, ReadsNamesAndData) {
  ExpectHoweverCut("event: message_start\ndata: {\"a\":1}\n\ndata: [DONE]\n\n",
                   {{"message_start", "{\"a\":1}"}, {"", "[DONE]"}});
}

TEST(Sse, ReadsAllLineEndings) {
  ExpectHoweverCut("event: a\r\ndata: 1\r\n\r\nevent: b\rdata: 2\r\rdata: 3\n\n", {{"a", "1"}, {"b", "2"}, {"", "3"}});
}

TEST(Sse, JoinsDataLines) {
  ExpectHoweverCut("data: one\ndata:  two\ndata\ndata:three\n\n", {{"", "one\n two\n\nthree"}});
}

TEST(Sse, SkipsCommentsAndOtherFields) {
  ExpectHoweverCut(": OPENROUTER PROCESSING\n\nid: 7\nretry: 100\nunknown: x\ndata: 1\n\n:\n\n", {{"", "1"}});
}

TEST(Sse, SkipsTheByteOrderMark) {
  ExpectHoweverCut(
      "\xEF\xBB\xBF"
      "data: 1\n\n",
      {{"", "1"}});
}

TEST(Sse, DropsEventsWithoutData) { ExpectHoweverCut("event: ping\n\ndata: 1\n\n", {{"", "1"}}); }

TEST(Sse, KeepsEventsWithEmptyData) { ExpectHoweverCut("data:\n\n", {{"", ""}}); }

TEST(Sse, DropsAnIncompleteEvent) { ExpectHoweverCut("data: 1\n\ndata: 2\n", {{"", "1"}}); }

TEST(Sse, PassesOddBytesThrough) {
  ExpectHoweverCut(std::string_view("data: \xff\0x\n\n", 11), {{"", std::string("\xff\0x", 3)}});
}

TEST(Sse, RejectsAnEndlessLine) {
  SseParser parser([](const SseEvent&) { ADD_FAILURE(); }, 1000);
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = parser.Feed("data: no end in sight ");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().kind, ErrorKind::kPermanent);
}

TEST(Sse, RejectsAnEndlessEvent) {
  SseParser parser([](const SseEvent&) { ADD_FAILURE(); }, 1000);
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) status = parser.Feed("data: x\n");
  EXPECT_FALSE(status.ok());
}

TEST(Sse, AcceptsAnyNumberOfEventsWithinTheLimit) {
  int events = 0;
  SseParser parser([&](const SseEvent&) { ++events; }, 100);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(parser.Feed("event: delta\ndata: some text\n\n").ok());
  EXPECT_EQ(events, 1000);
}

}  // namespace
}  // namespace upskill
