// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "model/wire/formats.h"
#include "model/wire/wire_replay_test.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

const WireFormat& ResponsesFormat() { return WireFormatOf(Wire::kResponses); }

TEST(ResponsesRequest, Plain) {
  ChatRequest request = WireQuestion("hi");
  request.system = "s";
  Json body = BuildResponses(request, OptionsOf("gpt-5-mini.low?verbosity=medium"));
  EXPECT_EQ(body["prompt_cache_key"].get<std::string>().size(), 40U);
  body.erase("prompt_cache_key");
  EXPECT_EQ(
      Text(body),
      R"({"model":"gpt-5-mini","instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}],)"
      R"("store":false,"max_output_tokens":100,"text":{"verbosity":"medium"},"reasoning":{"effort":"low"}})");
}

TEST(ResponsesRequest, ToolLoop) {
  const Json body = BuildResponses(ToolLoop(), OptionsOf("gpt-5-mini"));
  EXPECT_EQ(body["tools"][0]["name"], "weather");
  EXPECT_EQ(body["tools"][0]["strict"], false);
  EXPECT_EQ(body["include"][0], "reasoning.encrypted_content");
  EXPECT_EQ(Text(body["input"][1]),
            R"({"type":"function_call","call_id":"call_1","name":"weather","arguments":"{\"city\": \"Paris\"}"})");
  EXPECT_EQ(Text(body["input"][2]), R"({"type":"function_call_output","call_id":"call_1","output":"sunny"})");
  EXPECT_EQ(body["input"][3]["content"][0]["text"], "Go on.");
}

TEST(ResponsesRequest, ReasoningGoesBackUnchanged) {
  const Json items = Json::parse(
      R"([{"encrypted_content":"e","id":"rs_1","summary":[],"type":"reasoning"},{"arguments":"{}","call_id":"call_1","name":"weather","type":"function_call"}])");
  const Json input = BuildResponses(ToolLoop(items), OptionsOf("gpt-5-mini"))["input"];
  EXPECT_EQ(Text(input[1]), Text(items[0]));
  EXPECT_EQ(Text(input[2]), Text(items[1]));
}

TEST(ResponsesRequest, Schema) {
  ChatRequest request = WireQuestion("hi");
  request.answer_schema = Json::parse(R"({"type":"object"})");
  EXPECT_EQ(Text(BuildResponses(request, OptionsOf("gpt-5-mini"))["text"]["format"]),
            R"({"type":"json_schema","name":"answer","schema":{"type":"object"},"strict":false})");
}

TEST(ResponsesAnswer, TextReasoningCallsUsage) {
  const ChatResponse response =
      ParseOk(ResponsesFormat(), R"({"status":"completed","error":null,"model":"gpt-5-mini-2025-08-07","output":[
      {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"a"},{"type":"summary_text","text":"b"}],"encrypted_content":"e"},
      {"type":"function_call","id":"fc_1","call_id":"call_1","name":"weather","arguments":"{\"city\":\"Paris\"}"},
      {"type":"message","content":[{"type":"output_text","text":"t"}]},{"type":"web_search_call"}],
      "usage":{"input_tokens":102,"input_tokens_details":{"cached_tokens":48},"output_tokens":108,"output_tokens_details":{"reasoning_tokens":64}}})");
  EXPECT_EQ(response.text, "t");
  EXPECT_EQ(response.reasoning, "a\n\nb");
  EXPECT_EQ(response.stop, StopReason::kToolUse);
  EXPECT_EQ(response.tool_calls.at(0).id, "call_1");
  EXPECT_EQ(response.usage.input, 54);
  EXPECT_EQ(response.usage.cache_read, 48);
  EXPECT_EQ(response.usage.output, 108);
  EXPECT_EQ(response.usage.reasoning, 64);
  EXPECT_EQ(response.provider_blocks.size(), 4U);
}

TEST(ResponsesAnswer, Status) {
  EXPECT_EQ(ParseOk(ResponsesFormat(),
                    R"({"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]})")
                .stop,
            StopReason::kLength);
  EXPECT_EQ(ParseOk(ResponsesFormat(),
                    R"({"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]})")
                .stop,
            StopReason::kRefusal);
  const ChatResponse refused =
      ParseOk(ResponsesFormat(), R"({"output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]})");
  EXPECT_EQ(refused.stop, StopReason::kRefusal);
  EXPECT_EQ(refused.text, "No.");
  for (const char* body : {R"({"status":"queued","output":[]})", R"({"status":"cancelled","output":[]})",
                           R"({"status":"failed","error":{"code":"server_error","message":"x"}})", "{}"}) {
    EXPECT_EQ(ResponsesFormat().parse(Json::parse(body)).error().kind, ErrorKind::kUnavailable) << body;
  }
  EXPECT_EQ(ResponsesFormat()
                .parse(Json::parse(R"({"status":"failed","error":{"code":"invalid_prompt","message":"x"}})"))
                .error()
                .kind,
            ErrorKind::kInput);
}

TEST(ResponsesStream, PiecesWithoutFinishedItems) {
  const auto response = Replay(
      ResponsesFormat(),
      {R"({"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":""}})",
       R"({"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m","content":[]}})",
       R"({"type":"response.output_text.delta","output_index":0,"item_id":"other","delta":"Hel"})",
       R"({"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"x\":1}"})",
       R"({"type":"response.output_text.delta","output_index":0,"delta":"lo","obfuscation":"zzz"})",
       R"({"type":"response.completed","response":{"status":"completed","output":[],"usage":{"output_tokens":3}}})"});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "Hello");
  ASSERT_EQ(response->tool_calls.size(), 1U);
  EXPECT_EQ(response->tool_calls[0].arguments["x"], 1);
  EXPECT_EQ(response->usage.output, 3);
}

TEST(ResponsesStream, OnlyTheLastEventHasTheItems) {
  const auto response = Replay(
      ResponsesFormat(),
      {R"({"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"t"}]}]}})"});
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(response->text, "t");
}

TEST(ResponsesStream, EndsEarlyOrBadly) {
  EXPECT_EQ(Replay(ResponsesFormat(), {R"({"type":"response.created","response":{}})"}).error().kind,
            ErrorKind::kUnavailable);
  const auto error = Replay(ResponsesFormat(),
                            {R"({"type":"error","code":"rate_limit_exceeded","message":"slow down","param":null})"});
  EXPECT_EQ(error.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(error.error().message, HasSubstr("slow down"));
  const auto failed = Replay(
      ResponsesFormat(),
      {R"({"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}})"});
  EXPECT_THAT(failed.error().message, HasSubstr("oops"));
  EXPECT_TRUE(Replay(ResponsesFormat(), {"7", R"({"type":7})", R"({"type":"response.output_item.done"})",
                                         R"({"type":"response.output_item.done","item":7,"output_index":1e300})",
                                         R"({"type":"response.completed","response":{"output":[7]}})"})
                  .ok());
}

}  // namespace
}  // namespace upskill
