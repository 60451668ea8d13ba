// SPDX-License-Identifier: Apache-2.0
#include "model/answer_json.h"

#include <gmock/gmock.h>

namespace upskill {
namespace {

using ::testing::ElementsAre;
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
    const Result<FittingAnswer> answer = AnswerJson(text, Schema());
    ASSERT_TRUE(answer.ok()) << text << ": " << answer.error().message;
    EXPECT_EQ(DumpJson(answer->json), R"({"n":1})") << text;
  }
  EXPECT_TRUE(AnswerJson("the list: [1, 2]", Json::parse(R"({"type":"array"})")).ok());
}

TEST(AnswerJson, InFencesOfEveryKind) {
  for (const char* text : {"~~~json\n{\"n\":1}\n~~~\nNot as in {x}.", "{a}\n~~~~\n{\"n\":1}\n~~~~\n{b}",
                           "{a}\n```json\n{\"n\":1,\n\"text\":\"```c\"}\n```\n{b}"}) {
    const Result<FittingAnswer> answer = AnswerJson(text, Schema());
    ASSERT_TRUE(answer.ok()) << text << ": " << answer.error().message;
    EXPECT_EQ(answer->json.at("n"), 1) << text;
  }
}

TEST(AnswerJson, LeavesOutKeysThatTheSchemaDoesntAllow) {
  const Json schema = Json::parse(
      R"({"type":"object","required":["list"],"additionalProperties":false,"properties":{"list":{"type":"array",
          "items":{"type":"object","additionalProperties":false,"properties":{"n":{"type":"integer"}}}},
          "open":{"type":"object"}}})");
  const Result<FittingAnswer> answer =
      AnswerJson(R"({"why":"w","list":[{"n":1,"note":"a"},{"note":"b","n":2}],"open":{"own":1}})", schema);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(DumpJson(answer->json), R"({"list":[{"n":1},{"n":2}],"open":{"own":1}})");
  EXPECT_THAT(answer->left_out, ElementsAre("note", "why"));
  EXPECT_THAT(AnswerJson(R"({"liste":[]})", schema).error().message, HasSubstr("is missing the key \"list\""));
  EXPECT_TRUE(AnswerJson(R"({"n":1,"why":"w"})", Schema())->left_out.empty()) << "any key is allowed";
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
