// SPDX-License-Identifier: Apache-2.0
#include "model/answer_json.h"

#include <gmock/gmock.h>

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const Json& Schema() {
  static const Json schema = Json::parse(R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}})");
  return schema;
}

TEST(AnswerJson, AnywhereInTheAnswer) {
  for (const char* text : {R"({"n":1})", "  {\"n\":1}\n", "Here you are:\n```json\n{\"n\":1}\n```\nAnything else?",
                           "```\n{\"n\":1}\n```", "Sure: {\"n\":1} – done.", "<think>{\"n\":9} no</think>\n{\"n\":1}",
                           "```json\n{\"n\":1}", "```text\nno\n```\n```json\n{\"n\":1}\n```"}) {
    const Result<Json> json = AnswerJson(text, Schema());
    ASSERT_TRUE(json.ok()) << text << ": " << json.error().message;
    EXPECT_EQ(DumpJson(*json), R"({"n":1})") << text;
  }
  EXPECT_TRUE(AnswerJson("the list: [1, 2]", Json::parse(R"({"type":"array"})")).ok());
}

TEST(AnswerJson, InFencesOfEveryKind) {
  for (const char* text : {"~~~json\n{\"n\":1}\n~~~\nNot as in {x}.", "{a}\n~~~~\n{\"n\":1}\n~~~~\n{b}",
                           "{a}\n```json\n{\"n\":1,\n\"text\":\"```c\"}\n```\n{b}"}) {
    const Result<Json> json = AnswerJson(text, Schema());
    ASSERT_TRUE(json.ok()) << text << ": " << json.error().message;
    EXPECT_EQ(json->at("n"), 1) << text;
  }
}

TEST(AnswerJson, TheErrorDescribesTheProblem) {
  EXPECT_THAT(AnswerJson(R"(Sure: {"n":"one"})", Schema()).error().message,
              HasSubstr("/n: must be of type \"integer\""));
  EXPECT_THAT(AnswerJson("{}", Schema()).error().message, HasSubstr("is missing the key \"n\""));
  EXPECT_THAT(AnswerJson(R"({"m":[{"a":1}]})", Schema()).error().message, HasSubstr("is missing the key \"n\""))
      << "not what is wrong with the list in it";
  EXPECT_THAT(AnswerJson("{\"n\":", Schema()).error().message, StartsWith("it isn't valid JSON (line 1, column 6): "));
  EXPECT_FALSE(AnswerJson("", Schema()).ok());
  EXPECT_FALSE(AnswerJson("``````json\n```{[}]", Schema()).ok());
}

}  // namespace
}  // namespace upskill
