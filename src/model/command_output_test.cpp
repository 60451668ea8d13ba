// SPDX-License-Identifier: Apache-2.0
#include "model/command_output.h"

#include <gmock/gmock.h>

#include <string>

namespace upskill {
namespace {

using ::testing::HasSubstr;

ChatResponse Read(std::string_view output) {
  const Result<ChatResponse> response = ReadCommandOutput(output);
  EXPECT_TRUE(response.ok()) << (response ? "" : response.error().message);
  return response ? *response : ChatResponse{};
}

std::string ErrorFor(std::string_view output) {
  const Result<ChatResponse> response = ReadCommandOutput(output);
  EXPECT_FALSE(response.ok());
  if (response) return "";
  EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  return response.error().message;
}

TEST(CommandOutput, TextIsTheAnswer) {
  EXPECT_EQ(Read("\nIt is 4.\n\n").text, "It is 4.");
  EXPECT_FALSE(Read("4").cost_usd.has_value());
  EXPECT_EQ(Read("a\xFFz").text, "a\xEF\xBF\xBDz");
  EXPECT_EQ(ErrorFor(" \n"), "it printed no answer");
}

// A structured answer is JSON too.
TEST(CommandOutput, OtherJsonIsTheAnswer) {
  for (const char* text : {R"({"cases": []})", R"({"result": "4"})", R"({"response": "4"})", R"([{"type": "text"}])",
                           "4", R"({"error": {"message": "m"}, "response": "4"})", "{\"a\": 1}\n{\"b\": 2}"}) {
    EXPECT_EQ(Read(text).text, text);
  }
}

TEST(CommandOutput, ClaudeCode) {
  const std::string result =
      R"({"type":"result","subtype":"success","is_error":false,"duration_ms":2000,"num_turns":1,"result":"It is 4.",)"
      R"("session_id":"s","total_cost_usd":0.0125,"usage":{"input_tokens":3,"cache_creation_input_tokens":40,)"
      R"("cache_read_input_tokens":500,"output_tokens":6},"modelUsage":{"claude-opus-5":{}}})";
  for (const std::string& output :
       {result, "[{\"type\":\"system\",\"subtype\":\"init\"}," + result + "]",
        "{\"type\":\"system\",\"subtype\":\"init\"}\n{\"type\":\"assistant\",\"message\":{}}\n" + result + "\n"}) {
    const ChatResponse response = Read(output);
    EXPECT_EQ(response.text, "It is 4.");
    EXPECT_EQ(response.usage.input, 3);
    EXPECT_EQ(response.usage.cache_write, 40);
    EXPECT_EQ(response.usage.cache_read, 500);
    EXPECT_EQ(response.usage.output, 6);
    EXPECT_EQ(response.cost_usd, 0.0125);
    EXPECT_EQ(response.served_model, "claude-opus-5");
  }
  EXPECT_EQ(ErrorFor(R"({"type":"result","subtype":"success","is_error":true,"result":"Invalid API key"})"),
            "it reports an error: Invalid API key");
  EXPECT_THAT(ErrorFor(R"({"type":"result","subtype":"error_max_turns","is_error":false})"),
              HasSubstr("error_max_turns"));
}

TEST(CommandOutput, AFailureKeepsWhatItReportsToHaveUsed) {
  const Result<ChatResponse> failed = ReadCommandOutput(
      R"({"type":"result","subtype":"error_during_execution","is_error":true,"result":"","total_cost_usd":0.9,)"
      R"("usage":{"input_tokens":300000,"output_tokens":20000}})");
  ASSERT_FALSE(failed.ok());
  EXPECT_DOUBLE_EQ(failed.error().used_usd, 0.9);
  EXPECT_EQ(failed.error().used_tokens, 320'000);
  const Result<ChatResponse> empty =
      ReadCommandOutput(R"({"type":"result","subtype":"success","result":" ","total_cost_usd":0.5})");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message, "it printed no answer");
  EXPECT_DOUBLE_EQ(empty.error().With("x").Because(ErrorCause::kUnusable).used_usd, 0.5);
}

TEST(CommandOutput, Codex) {
  const ChatResponse response = Read(
      "Reading prompt from stdin...\n"
      "{\"type\":\"thread.started\",\"thread_id\":\"019a2d7a-6455-7170-a661-c6d8b94c630a\"}\n{\"type\":\"turn."
      "started\"}\n"
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_0\",\"type\":\"reasoning\",\"text\":\"**Listing**\"}}\n"
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_1\",\"type\":\"agent_message\",\"text\":\"Looking.\"}}\n"
      "{\"type\":\"item.completed\",\"item\":{\"id\":\"item_2\",\"type\":\"agent_message\",\"text\":\"It is 4.\"}}\n"
      "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":6040,\"cached_input_tokens\":4992,\"output_tokens\":"
      "129}}");
  EXPECT_EQ(response.text, "It is 4.");
  EXPECT_EQ(response.usage.input, 6040 - 4992);
  EXPECT_EQ(response.usage.cache_read, 4992);
  EXPECT_EQ(response.usage.output, 129);
  EXPECT_FALSE(response.cost_usd.has_value());
  EXPECT_THAT(
      ErrorFor("{\"type\":\"thread.started\"}\n{\"type\":\"turn.failed\",\"error\":{\"message\":\"no quota\"}}"),
      HasSubstr("no quota"));
  EXPECT_EQ(ErrorFor("{\"type\":\"thread.started\"}\n{\"type\":\"turn.completed\",\"usage\":{}}"),
            "it printed no answer");
}

// Sums of them decide what may still be spent.
TEST(CommandOutput, ImpossibleCountsAndCostsAreNone) {
  const ChatResponse cached =
      Read(R"({"type":"item.completed","item":{"type":"agent_message","text":"4"}})"
           "\n"
           R"({"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":30,"output_tokens":-7}})");
  EXPECT_EQ(cached.usage.input, 0);
  EXPECT_EQ(cached.usage.cache_read, 30);
  EXPECT_EQ(cached.usage.output, 0);
  const ChatResponse paid =
      Read(R"({"type":"result","subtype":"success","result":"4","total_cost_usd":-5,"usage":{"input_tokens":-3}})");
  EXPECT_EQ(paid.usage.input, 0);
  EXPECT_FALSE(paid.cost_usd.has_value());
  EXPECT_FALSE(Read(R"({"type":"result","subtype":"success","result":"4","total_cost_usd":0})").cost_usd.has_value())
      << "the program has no price for the model";
  const std::string most = R"({"type":"message_end","message":{"role":"assistant","content":"4","usage":{"input":)"
                           R"(9223372036854775807,"output":18446744073709551615}}})";
  EXPECT_GT(Read(most + "\n" + most).usage.input, 0);
}

TEST(CommandOutput, Gemini) {
  const ChatResponse response = Read(
      R"({"session_id":"s","response":"It is 4.","stats":{"models":{"gemini-2.5-pro":{"api":{"totalRequests":2},)"
      R"("tokens":{"prompt":24939,"candidates":20,"total":25113,"cached":21263,"thoughts":154,"tool":0}}},"tools":{}}})");
  EXPECT_EQ(response.text, "It is 4.");
  EXPECT_EQ(response.usage.input, 24939 - 21263);
  EXPECT_EQ(response.usage.cache_read, 21263);
  EXPECT_EQ(response.usage.output, 174);
  EXPECT_EQ(response.usage.reasoning, 154);
  EXPECT_EQ(response.served_model, "gemini-2.5-pro");
  EXPECT_THAT(ErrorFor(R"({"session_id":"s","error":{"type":"Error","message":"no login","code":41}})"),
              HasSubstr("no login"));
}

TEST(CommandOutput, OpenCode) {
  const auto event = [](const std::string& type, const std::string& part) {
    return R"({"type":")" + type + R"(","timestamp":1767036059338,"sessionID":"ses_1","part":)" + part + "}\n";
  };
  const ChatResponse response =
      Read(event("step_start", R"({"id":"p0","messageID":"m1","type":"step-start"})") +
           event("text", R"({"messageID":"m1","type":"text","text":"Looking."})") +
           event("step_finish", R"({"reason":"tool-calls","cost":0.01,"tokens":{"input":100,"output":10,"reasoning":2,)"
                                R"("cache":{"read":50,"write":7}}})") +
           event("text", R"({"messageID":"m2","type":"text","text":"It is "})") +
           event("text", R"({"messageID":"m2","type":"text","text":"4."})") +
           event("step_finish", R"({"reason":"stop","cost":0.02,"tokens":{"input":1,"output":3,"reasoning":0}})"));
  EXPECT_EQ(response.text, "It is 4.");
  EXPECT_EQ(response.usage.input, 101);
  EXPECT_EQ(response.usage.cache_read, 50);
  EXPECT_EQ(response.usage.cache_write, 7);
  EXPECT_EQ(response.usage.output, 13);
  EXPECT_NEAR(response.cost_usd.value_or(0.0), 0.03, 1e-12);
  EXPECT_THAT(
      ErrorFor(R"({"type":"error","sessionID":"s","error":{"name":"APIError","data":{"message":"no credit"}}})"),
      HasSubstr("no credit"));
}

TEST(CommandOutput, Pi) {
  const auto end = [](const std::string& text, const std::string& rest) {
    return R"({"type":"message_end","message":{"role":"assistant","model":"m","content":[{"type":"thinking",)"
           R"("thinking":"hm"},{"type":"text","text":")" +
           text + R"("}],"usage":{"input":10,"output":5,"cacheRead":3,"cacheWrite":2,"cost":{"total":0.25}})" + rest +
           "}}\n";
  };
  const ChatResponse response =
      Read("{\"type\":\"session\",\"version\":3}\n{\"type\":\"agent_start\"}\n" +
           end("Looking.", R"(,"stopReason":"toolUse")") + end("It is 4.", R"(,"stopReason":"stop")") +
           "{\"type\":\"agent_end\",\"messages\":[]}\n");
  EXPECT_EQ(response.text, "It is 4.");
  EXPECT_EQ(response.usage.input, 20);
  EXPECT_EQ(response.usage.output, 10);
  EXPECT_EQ(response.usage.cache_read, 6);
  EXPECT_EQ(response.cost_usd, 0.5);
  EXPECT_EQ(response.served_model, "m");
  EXPECT_THAT(ErrorFor(end("", R"(,"stopReason":"error","errorMessage":"401 no key")")), HasSubstr("401 no key"));
}

}  // namespace
}  // namespace upskill
