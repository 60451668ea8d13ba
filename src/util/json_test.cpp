// SPDX-License-Identifier: Apache-2.0
#include "util/json.h"

#include <gmock/gmock.h>

#include <ctime>
#include <limits>
#include <string>

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string MessageOf(const std::string& text) {
  const Result<Json> parsed = ParseJsonShowingLine(text, "f.json");
  EXPECT_FALSE(parsed.ok()) << text;
  if (parsed) return "";
  EXPECT_EQ(parsed.error().kind, ErrorKind::kInput);
  return parsed.error().message;
}

std::string Nested(int depth, const std::string& inside) {
  return std::string(static_cast<std::size_t>(depth), '[') + inside + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, KeepsKeyOrderAndNumbers) {
  const std::string text = R"({"z":1,"a":{"y":18446744073709551615,"b":-1.5},"m":["é",null,true]})";
  const Result<Json> parsed = ParseJson(text, "f.json");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(DumpJson(*parsed), text);
}

TEST(ParseJson, ErrorNamesLineAndColumnAndMarksThePlace) {
  const std::string message = MessageOf("{\n  \"a\": 1,\n  \"b\" 2\n}\n");
  EXPECT_THAT(message, StartsWith("f.json:3:7: "));
  EXPECT_THAT(message, HasSubstr("\n  3 |   \"b\" 2\n    |       ^"));
  EXPECT_THAT(message, Not(HasSubstr("json.exception")));
}

TEST(ParseJson, ErrorRepeatsNothingOfTheText) {
  for (const std::string text : {"SECRET", "{\"SECRET\"", "[\"SECRET\" \"SECRET\"]", "\"SECRET", "1SECRET", "[1e9999]",
                                 "-SECRET", "{\"SECRET\": nulSECRET}", "\"SECRET\xff\"", "SECRET = 1", "token: SECRET",
                                 "\"; expected SECRET", "\"; expected ']'SECRET", "[\"x\" \"; expected SECRET"}) {
    const Result<Json> parsed = ParseJson(text, "f.json");
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_THAT(parsed.error().message,
                AllOf(StartsWith("f.json"), Not(HasSubstr("SECRET")), Not(HasSubstr("9999")), Not(HasSubstr("\n"))));
  }
}

TEST(ParseJson, ErrorNamesTheStartOfATokenThatIsOutOfPlace) {
  EXPECT_THAT(MessageOf(R"([{"input": "Fix it" "expected": 1}])"),
              HasSubstr("\n  1 | [{\"input\": \"Fix it\" \"expected\": 1}]\n    |                     ^"));
  EXPECT_THAT(MessageOf("{\"a\"\n \"b\\\"c\"}"), StartsWith("f.json:2:2: "));
  EXPECT_THAT(MessageOf("[1 -2.5e7]"), StartsWith("f.json:1:4: "));
  EXPECT_THAT(MessageOf("[true}"), StartsWith("f.json:1:6: "));
  EXPECT_THAT(MessageOf("[nothing]"), StartsWith("f.json:1:2: "));
}

TEST(ParseJson, ErrorSaysWhatIsWrong) {
  for (const char* text : {"[1 \"a\"]", "{\"a\" 1}", "{1: 2}", "[yes]", "{} {}"})
    EXPECT_THAT(MessageOf(text), HasSubstr(": JSON syntax error\n")) << text;
  EXPECT_THAT(MessageOf("[1 , ]"), HasSubstr(": unexpected comma before ']'\n"));
  EXPECT_THAT(MessageOf("{\"a\": 1,\n}"), HasSubstr(": unexpected comma before '}'\n"));
  EXPECT_THAT(MessageOf("[1"), HasSubstr(": the text ends too early\n"));
  EXPECT_THAT(MessageOf("\"a\\\""), HasSubstr(": the text ends too early\n"));
}

TEST(ParseJson, CaretIsRightAfterWideCharacters) {
  EXPECT_THAT(MessageOf("[\"漢\" x]"), HasSubstr("\n  1 | [\"漢\" x]\n    |       ^"));
}

TEST(ParseJson, ErrorInALongLineShowsOnlyItsSurroundings) {
  const std::string message = MessageOf("[" + std::string(5000, ' ') + "x" + std::string(5000, ' ') + "]");
  EXPECT_THAT(message, StartsWith("f.json:1:5002: "));
  EXPECT_LT(message.size(), 400U);
  EXPECT_THAT(message, HasSubstr("|" + std::string(61, ' ') + "^"));
}

TEST(ParseJson, ErrorAtTheEnd) {
  EXPECT_THAT(MessageOf(""), StartsWith("f.json:1:1: "));
  EXPECT_THAT(MessageOf("[1,\n"), StartsWith("f.json:2:1: "));
  EXPECT_THAT(MessageOf("{\"a\""), StartsWith("f.json:1:5: "));
}

TEST(ParseJson, InvalidJson) {
  for (const char* text : {"{'a': 1}", "[1,]", "nul", "01", "[1] 2", "\"\x01\"", "\"\\x\"", "\"\\ud800\"", "// no\n1",
                           "[NaN]", "{\"a\":1,}", "\t"}) {
    EXPECT_THAT(MessageOf(text), StartsWith("f.json:")) << text;
  }
}

TEST(ParseJson, MessagesAreSafeForATerminal) {
  EXPECT_THAT(MessageOf("[\x1b[31m]"), AllOf(HasSubstr("\\x1b"), Not(HasSubstr("\x1b"))));
}

TEST(ParseJson, IgnoresAByteOrderMark) {
  EXPECT_EQ(*ParseJson("\xEF\xBB\xBF[1]", "f.json"), Json::array({1}));
  EXPECT_THAT(MessageOf("\xEF\xBB\xBF[x]"), StartsWith("f.json:1:2: "));
  EXPECT_THAT(MessageOf("[\xEF\xBB\xBF]"), StartsWith("f.json:1:2: ")) << "elsewhere it is no such mark";
}

TEST(ParseJson, RejectsInvalidUtf8WithItsPosition) {
  EXPECT_THAT(MessageOf("[\n\"a\xFF\"]"), AllOf(StartsWith("f.json:2:3: not UTF-8"), HasSubstr("\uFFFD")));
}

TEST(ParseJson, NulDoesNotEndTheText) {
  EXPECT_THAT(MessageOf(std::string("[]\0x", 4)), StartsWith("f.json:1:3: unexpected NUL character"));
  EXPECT_FALSE(ParseJson(std::string_view("[\0]", 3), "f").ok());
}

TEST(ParseJson, DepthIsLimited) {
  EXPECT_TRUE(ParseJson(Nested(200, "1"), "f").ok());
  EXPECT_THAT(MessageOf(Nested(201, "1")), StartsWith("f.json:1:201: nested deeper than 200 levels"));
  EXPECT_THAT(MessageOf(Nested(100000, "")), HasSubstr("nested deeper"));
  EXPECT_THAT(MessageOf(std::string(100000, '[')), HasSubstr("nested deeper"));
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_THAT(MessageOf(objects), HasSubstr("nested deeper"));
}

TEST(ParseJson, BracketsInStringsDoNotNest) {
  const std::string text = R"(["\"\\)" + std::string(1000, '[') + R"("])";
  EXPECT_TRUE(ParseJson(text, "f").ok());
}

TEST(ParseJson, HugeNumbers) {
  EXPECT_THAT(MessageOf("[1e999]"), StartsWith("f.json:1:2: the number is too large\n"));
  const Result<Json> large = ParseJson("[18446744073709551616]", "f");
  ASSERT_TRUE(large.ok());
  EXPECT_TRUE((*large)[0].is_number_float());
  EXPECT_LT(MessageOf("[" + std::string(4000, '1') + "]").size(), 1000U);
}

// A parser callback of nlohmann-json made this quadratic: 80,000 objects took 50 times as long as 10,000.
TEST(ParseJson, WorkGrowsInStepWithTheNumberOfObjects) {
  const auto processor_time_for = [](int objects) {
    std::string text = "[";
    for (int i = 0; i < objects; ++i) text += i == 0 ? "{\"a\":1}" : ",{\"a\":1}";
    text += "]";
    double best = std::numeric_limits<double>::infinity();
    for (int attempt = 0; attempt < 3; ++attempt) {
      const std::clock_t start = std::clock();
      EXPECT_TRUE(ParseJson(text, "f").ok());
      best = std::min(best, static_cast<double>(std::clock() - start));
    }
    return best;
  };
  EXPECT_LT(processor_time_for(64000) / processor_time_for(4000), 16 * 6);
}

TEST(DumpJson, InvalidUtf8BecomesAReplacementCharacter) {
  const Json value = {{"a", "x\xFFy"}};
  EXPECT_EQ(DumpJson(value), "{\"a\":\"x\uFFFDy\"}");
  EXPECT_EQ(DumpJsonIndented(value), "{\n  \"a\": \"x\uFFFDy\"\n}");
}

TEST(CanonicalJson, SortsKeysAtEveryLevelAndKeepsLists) {
  const Json a = *ParseJson(R"({"b":[{"y":1,"x":2}],"a":{"d":null,"c":""}})", "f");
  const Json b = *ParseJson(R"({ "a": {"c": "", "d": null}, "b": [{"x": 2, "y": 1}] })", "f");
  EXPECT_EQ(CanonicalJson(a), R"({"a":{"c":"","d":null},"b":[{"x":2,"y":1}]})");
  EXPECT_EQ(CanonicalJson(a), CanonicalJson(b));
  EXPECT_NE(CanonicalJson(*ParseJson("[1,2]", "f")), CanonicalJson(*ParseJson("[2,1]", "f")));
}

TEST(SameJson, NumbersByValueAndKeysInAnyOrder) {
  const auto same = [](const char* a, const char* b) { return SameJson(*ParseJson(a, "f"), *ParseJson(b, "f")); };
  EXPECT_TRUE(same(R"({"b":[1.0,{"y":2}],"a":-0.0})", R"({"a":0,"b":[1,{"y":2.0}]})"));
  EXPECT_TRUE(same("1e3", "1000"));
  EXPECT_FALSE(same("[1,2]", "[2,1]"));
  EXPECT_FALSE(same("[1]", "[true]"));
  EXPECT_FALSE(same("[1.5]", "[1]"));
  EXPECT_FALSE(same("[9007199254740993]", "[9007199254740992]"));
  EXPECT_FALSE(same(R"(["1"])", "[1]"));
}

TEST(JsonTypeName, Names) {
  EXPECT_EQ(JsonTypeName(Json()), "null");
  EXPECT_EQ(JsonTypeName(Json::object()), "an object");
  EXPECT_EQ(JsonTypeName(Json::array()), "a list");
  EXPECT_EQ(JsonTypeName("x"), "a string");
  EXPECT_EQ(JsonTypeName(true), "true or false");
  EXPECT_EQ(JsonTypeName(1), "a number");
  EXPECT_EQ(JsonTypeName(1.5), "a number");
}

TEST(JsonGet, FallsBackForOtherTypes) {
  const Json object = {{"s", "text"}, {"n", 3}, {"d", 2.5}, {"b", true}, {"null", nullptr}};
  EXPECT_EQ(JsonGet<std::string>(object, "s", "no"), "text");
  EXPECT_EQ(JsonGet<std::string>(object, "n", "no"), "no");
  EXPECT_EQ(JsonGet<std::string>(object, "null", "no"), "no");
  EXPECT_EQ(JsonGet<std::string>(object, "absent", "no"), "no");
  EXPECT_EQ(JsonGet<int>(object, "n", 7), 3);
  EXPECT_EQ(JsonGet<int>(object, "s", 7), 7);
  EXPECT_EQ(JsonGet<int>(object, "b", 7), 7);
  EXPECT_EQ(JsonGet<double>(object, "d", 0.0), 2.5);
  EXPECT_EQ(JsonGet<bool>(object, "b", false), true);
  EXPECT_EQ(JsonGet<bool>(object, "n", false), false);
  EXPECT_EQ(JsonGet<int>(Json::array({1}), "n", 7), 7);
}

// 4294967297 was read as 1, and 1e300 was undefined behaviour.
TEST(JsonGet, FallsBackForNumbersOutOfRange) {
  const Json object = Json::parse(
      R"({"wraps": 4294967297, "huge": 1e300, "negative": -1, "most": 18446744073709551615, "end": 9223372036854775808.0})");
  EXPECT_EQ(JsonGet<int>(object, "wraps", 7), 7);
  EXPECT_EQ(JsonGet<std::int64_t>(object, "wraps", 7), 4294967297);
  EXPECT_EQ(JsonGet<int>(object, "huge", 7), 7);
  EXPECT_EQ(JsonGet<double>(object, "huge", 7.0), 1e300);
  EXPECT_EQ(JsonGet<std::uint64_t>(object, "negative", 7U), 7U);
  EXPECT_EQ(JsonGet<std::int64_t>(object, "most", 7), 7);
  EXPECT_EQ(JsonGet<std::uint64_t>(object, "most", 7U), 18446744073709551615U);
  EXPECT_EQ(JsonGet<std::int64_t>(object, "end", 7), 7);
  EXPECT_EQ(JsonGet<std::uint64_t>(object, "end", 7U), 9223372036854775808U);
}

TEST(Json, OrNull) {
  EXPECT_EQ(JsonOrNull(std::optional<double>()), Json(nullptr));
  EXPECT_EQ(JsonOrNull(std::optional(0.5)), Json(0.5));
  EXPECT_EQ(JsonOrNull(std::optional(7LL)), Json(7));
}

}  // namespace
}  // namespace upskill
