// SPDX-License-Identifier: Apache-2.0
#include "util/json_builder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "support/work_meter.h"

namespace upskill {
namespace {

std::string KeysText(std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "\"key " : ",\"key ") + std::to_string(i) + "\":1";
  return text + "}";
}

TEST(JsonObjectBuilder, OfEqualKeysTheLastValueCountsInTheFirstPlace) {
  for (const int others : {0, 40}) {  // compared, and sorted
    JsonObjectBuilder object;
    object.Add("b") = 1;
    object.Add("a") = 2;
    for (int i = 0; i < others; ++i) object.Add("other " + std::to_string(i)) = i;
    object.Add("b") = Json::array({3});
    object.Add("c") = 4;
    object.Add("a") = 5;
    object.Add("b") = 6;
    const Json made = object.Take();
    ASSERT_EQ(made.size(), 3U + static_cast<std::size_t>(others));
    EXPECT_EQ(made.begin().key(), "b");
    EXPECT_EQ(made.at("b"), 6);
    EXPECT_EQ(made.at("a"), 5);
    EXPECT_EQ(std::prev(made.end()).key(), "c");
  }
}

TEST(JsonObjectBuilder, IsEmptyAfterTake) {
  JsonObjectBuilder object;
  EXPECT_EQ(object.Take(), Json::object());
  object.Add("a") = 1;
  EXPECT_EQ(object.Take(), (Json{{"a", 1}}));
  EXPECT_EQ(object.Take(), Json::object());
  JsonListBuilder list;
  list.Add() = 1;
  list.Add();
  EXPECT_EQ(list.Take(), Json::array({1, nullptr}));
  EXPECT_EQ(list.Take(), Json::array());
}

TEST(DiscardJson, LeavesNull) {
  Json value = *ParseJson(R"({"a":[1,{"b":[[],"text"]}],"c":{}})", "t");
  DiscardJson(value);
  EXPECT_TRUE(value.is_null());
}

double GrowthOfParsing(std::size_t size, const std::function<std::string(std::size_t)>& text_of) {
  return GrowthPerDoubling(
      size, [&](std::size_t count) { return [text = text_of(count)] { EXPECT_TRUE(ParseJson(text, "t").ok()); }; });
}

TEST(ParseJson, WorkGrowsInStepWithTheSize) {
  const auto repeat = [](const char* unit) {
    return [unit](std::size_t count) {
      std::string text = "[";
      for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + std::string(unit);
      return text + "]";
    };
  };
  EXPECT_LT(GrowthOfParsing(4000, KeysText), kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfParsing(4000, repeat(R"({"a":1})")), kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfParsing(4000, repeat("[[]]")), kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfParsing(4000, repeat("7")), kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfParsing(4000, [](std::size_t count) { return "[\"" + std::string(count * 10, 'x') + "\"]"; }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(GrowthOfParsing(4000, [](std::size_t count) { return "[0." + std::string(count * 10, '1') + "]"; }),
            kMaxGrowthPerDoubling);
  // Each level's object grows after a large member.
  EXPECT_LT(GrowthOfParsing(2000,
                            [](std::size_t count) {
                              std::string text = KeysText(count);
                              for (int level = 0; level < 100; ++level)
                                text = "{\"a\":" + text + ",\"b\":1,\"c\":2,\"d\":3,\"e\":4}";
                              return text;
                            }),
            kMaxGrowthPerDoubling);
}

TEST(CanonicalJson, WorkGrowsInStepWithTheNumberOfKeys) {
  EXPECT_LT(
      GrowthPerDoubling(
          4000, [](std::size_t count) { return [json = *ParseJson(KeysText(count), "t")] { CanonicalJson(json); }; }),
      kMaxGrowthPerDoubling);
}

TEST(ParseJson, LimitsAreNamed) {
  const auto error_of = [](const std::string& text, const JsonLimits& limits) {
    const Result<Json> parsed = ParseJson(text, "f.json", limits);
    EXPECT_FALSE(parsed.ok());
    return parsed ? "" : parsed.error().message;
  };
  EXPECT_EQ(error_of("[1234567890]", {.bytes = 10}), "f.json: too large: more than 10 bytes, the maximum for JSON");
  EXPECT_EQ(error_of("[1,[2],{\"a\":3}]", {.values = 5}), "f.json: too large: it has more than 5 values, the maximum");
  EXPECT_TRUE(ParseJson("[1,[2],{\"a\":3}]", "f.json", {.values = 6}).ok());
  EXPECT_EQ(error_of(KeysText(1001), {.keys = 1000}),
            "f.json: too large: an object has more than 1,000 keys, the maximum");
  EXPECT_EQ(error_of("[\"abcdef\"]", {.string_bytes = 5}),
            "f.json: too large: a string is longer than 5 bytes, the maximum");
  EXPECT_EQ(error_of("{\"abcdef\":1}", {.string_bytes = 5}),
            "f.json: too large: a key is longer than 5 bytes, the maximum");
  EXPECT_EQ(ParseJson("[]", "f", {.bytes = 1, .error_kind = ErrorKind::kPermanent}).error().kind,
            ErrorKind::kPermanent);
}

#ifndef UPSKILL_SANITIZED
// The memory that RLIMIT_DATA limits.
std::size_t DataBytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmData:")) return std::stoul(line.substr(7)) * 1024;
  }
  return 0;
}

// Ends the process: 7 if the document is too large for this much more memory, 0 if it isn't.
void ParseWithin(const std::string& text, std::size_t megabytes) {
  rlimit limit{};
  limit.rlim_cur = limit.rlim_max = DataBytes() + (megabytes << 20U);
  if (::setrlimit(RLIMIT_DATA, &limit) != 0) ::_exit(1);
  const Result<Json> parsed = ParseJson(text, "f.json");
  ::_exit(!parsed && parsed.error().message == "f.json: too large for the available memory" ? 7 : 0);
}

// Without memory for the document, parsing fails; it neither throws nor ends the process (as the library's destructor
// did), whichever allocation it is that fails.
TEST(ParseJsonDeathTest, TooLittleMemoryIsAnError) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a new process, whose memory has no gaps from other tests
  std::string text = "[";
  for (int i = 0; i < 60'000; ++i) text += R"([{"a":[],"b":"a string that has memory of its own"}],)";
  text += "0]";
  for (const std::size_t megabytes : {1, 2, 3, 5, 7, 8, 11, 13})
    EXPECT_EXIT(ParseWithin(text, megabytes), testing::ExitedWithCode(7), "") << megabytes << " MB";
  EXPECT_EXIT(ParseWithin(text, 500), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace upskill
