// SPDX-License-Identifier: Apache-2.0
// Answers of network models that must fit a schema.
#include <gmock/gmock.h>

#include <atomic>
#include <string>

#include "model/network_model_test.h"
#include "support/fake_network.h"
#include "util/json.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using ::testing::HasSubstr;

ChatRequest SchemaQuestion() {
  ChatRequest request = Question("how many?");
  request.answer_schema = Json::parse(
      R"({"type":"object","required":["n"],"properties":{"n":{"type":"integer"}},"additionalProperties":false})");
  return request;
}

TEST(NetworkModel, SchemaByTheProvider) {
  Rig rig([](const Request&) { return Answer(200, ChatBody("```json\n{\"n\":4}\n```")); });
  const Result<ChatResponse> response = rig.Ask(SchemaQuestion());
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->parsed["n"], 4);
  EXPECT_EQ(rig.Body(0)["response_format"]["type"], "json_schema");
  EXPECT_EQ(rig.Body(0)["messages"][0]["content"], "how many?");
}

TEST(NetworkModel, AnswersThatDoNotMatchAreRequestedAgain) {
  std::atomic<int> count = 0;  // on the server's thread
  Rig rig([&count](const Request&) { return Answer(200, ChatBody(++count < 3 ? R"({"n":"four"})" : R"({"n":4})")); },
          "generic.m?structured=prompt");
  const Result<ChatResponse> response = rig.Ask(SchemaQuestion());
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->parsed["n"], 4);
  EXPECT_EQ(response->usage.input, 30);  // of all three
  EXPECT_EQ(response->usage.output, 15);
  EXPECT_FALSE(rig.Body(0).contains("response_format"));
  EXPECT_THAT(rig.Body(0)["messages"][0]["content"].get<std::string>(), HasSubstr("It must fit this JSON schema"));
  const Json messages = rig.Body(2)["messages"];
  ASSERT_EQ(messages.size(), 5U);
  EXPECT_EQ(messages[1]["content"], R"({"n":"four"})");
  EXPECT_THAT(messages[2]["content"].get<std::string>(), HasSubstr("/n: must be of type \"integer\""));
}

TEST(NetworkModel, AfterTwoRepairsTheAnswerIsReturnedAsIs) {
  Rig rig([](const Request&) { return Answer(200, ChatBody("no json")); });
  const Result<ChatResponse> response = rig.Ask(SchemaQuestion());
  ASSERT_TRUE(response.ok());
  EXPECT_TRUE(response->parsed.is_null());
  EXPECT_EQ(response->stop, StopReason::kEnd);
  EXPECT_EQ(response->text, "no json");
  EXPECT_EQ(response->usage.input, 30) << "of all three";
  EXPECT_EQ(rig.server.request_count(), 3U);
}

TEST(NetworkModel, ATruncatedAnswerIsNotRequestedAgain) {
  Rig rig([](const Request&) { return Answer(200, ChatBody(R"({"n":)", "length")); });
  const Result<ChatResponse> response = rig.Ask(SchemaQuestion());
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->stop, StopReason::kLength);
  EXPECT_TRUE(response->parsed.is_null());
  EXPECT_EQ(rig.server.request_count(), 1U);
}

TEST(NetworkModel, SchemaByATool) {
  Rig rig(
      [](const Request&) {
        return Answer(
            200,
            R"({"choices":[{"finish_reason":"stop","message":{"content":null,"tool_calls":[{"id":"a","function":{"name":"answer","arguments":"{\"n\":4}"}}]}}]})");
      },
      "generic.m?structured=tool_use");
  const Result<ChatResponse> response = rig.Ask(SchemaQuestion());
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->parsed["n"], 4);
  EXPECT_EQ(response->stop, StopReason::kEnd);
  EXPECT_TRUE(response->tool_calls.empty());
  EXPECT_EQ(rig.Body(0)["tool_choice"]["function"]["name"], "answer");
}

TEST(NetworkModel, CostIsAddedUp) {
  std::atomic<int> count = 0;
  Rig rig([&count](const Request&) {
    return Answer(200, R"({"choices":[{"finish_reason":"stop","message":{"content":")" +
                           std::string(++count < 2 ? "x" : "{\\\"n\\\":1}") + R"("}}],"usage":{"cost":0.25}})");
  });
  const Result<ChatResponse> response = rig.Ask(SchemaQuestion());
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->cost_usd, 0.5);
}

}  // namespace
}  // namespace upskill
