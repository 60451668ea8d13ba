// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "model/wire/formats.h"
#include "model/wire/wire_replay_test.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

const WireFormat& AnthropicFormat() { return WireFormatOf(Wire::kAnthropic); }

TEST(AnthropicRequest, Plain) {
  ChatRequest request = WireQuestion("hi");
  request.system = "Be brief.";
  EXPECT_EQ(Text(BuildAnthropic(request, OptionsOf("haiku"))),
            R"({"model":"claude-haiku-4-5","max_tokens":100,"system":[{"type":"text","text":"Be brief."}],)"
            R"("messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]})");
}

TEST(AnthropicRequest, SettingsWinOverTheRequest) {
  ChatRequest request = WireQuestion("hi");
  request.sampling.temperature = 0.9;
  const Json body = BuildAnthropic(request, OptionsOf("haiku?temperature=0.1&max_tokens=7&top_k=5"));
  EXPECT_EQ(body["temperature"], 0.1);
  EXPECT_EQ(body["max_tokens"], 7);
  EXPECT_EQ(body["top_k"], 5);
  EXPECT_FALSE(body.contains("seed"));
}

TEST(AnthropicRequest, Effort) {
  const Json adaptive = BuildAnthropic(WireQuestion("hi"), OptionsOf("sonnet.minimal"));
  EXPECT_EQ(Text(adaptive["thinking"]), R"({"type":"adaptive"})");
  EXPECT_EQ(adaptive["output_config"]["effort"], "low");
  EXPECT_EQ(Text(BuildAnthropic(WireQuestion("hi"), OptionsOf("sonnet.none"))["thinking"]), R"({"type":"disabled"})");
  const Json budget = BuildAnthropic(WireQuestion("hi"), OptionsOf("haiku.low"));
  EXPECT_EQ(Text(budget["thinking"]), R"({"type":"enabled","budget_tokens":2048})");
  EXPECT_EQ(budget["max_tokens"], 2148);
  EXPECT_FALSE(BuildAnthropic(WireQuestion("hi"), OptionsOf("haiku.none")).contains("thinking"));
}

TEST(AnthropicRequest, LongPrefixesAndLoopsAreMarkedForTheCache) {
  ChatRequest request = ToolLoop();
  request.system = std::string(5000, 's');
  const Json body = BuildAnthropic(request, OptionsOf("sonnet"));
  EXPECT_EQ(Text(body["system"][0]["cache_control"]), R"({"type":"ephemeral"})");
  EXPECT_TRUE(body["messages"][2]["content"].back().contains("cache_control"));
}

TEST(AnthropicRequest, ToolLoop) {
  const Json body = BuildAnthropic(ToolLoop(), OptionsOf("sonnet"));
  EXPECT_EQ(body["tools"][0]["input_schema"]["required"][0], "city");
  EXPECT_EQ(
      Text(body["messages"][1]),
      R"({"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"weather","input":{"city":"Paris"}}]})");
  EXPECT_EQ(Text(body["messages"][2]["content"][0]),
            R"({"type":"tool_result","tool_use_id":"call_1","content":"sunny","is_error":true})");
  EXPECT_EQ(body["messages"][2]["content"][1]["text"], "Go on.");
}

TEST(AnthropicRequest, SignedBlocksGoBackUnchanged) {
  const Json blocks = Json::parse(
      R"([{"signature":"s","thinking":"t","type":"thinking"},{"id":"call_1","input":{"city":"Paris"},"name":"weather","type":"tool_use"}])");
  EXPECT_EQ(Text(BuildAnthropic(ToolLoop(blocks), OptionsOf("sonnet"))["messages"][1]["content"]), Text(blocks));
}

TEST(AnthropicRequest, RolesAlternate) {
  ChatRequest request = WireQuestion("a");
  request.messages.push_back({Role::kUser, "b"});
  request.messages.push_back({Role::kAssistant, ""});
  const Json messages = BuildAnthropic(request, OptionsOf("haiku"))["messages"];
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[0]["content"].size(), 2U);
  EXPECT_EQ(messages[1]["content"][0]["text"], "(empty)");  // empty text blocks are rejected
}

TEST(AnthropicRequest, SchemaInTheAcceptedForm) {
  ChatRequest request = WireQuestion("hi");
  request.answer_schema = Json::parse(R"({"type":"object","properties":{"minimum":{"type":"string","minLength":3},
      "l":{"type":"array","minItems":2,"items":{"type":"object","properties":{}}}}})");
  EXPECT_EQ(
      Text(BuildAnthropic(request, OptionsOf("sonnet"))["output_config"]["format"]),
      R"({"type":"json_schema","schema":{"type":"object","properties":{"minimum":{"type":"string"},)"
      R"("l":{"type":"array","items":{"type":"object","properties":{},"additionalProperties":false}}},"additionalProperties":false}})");
  EXPECT_FALSE(BuildAnthropic(request, OptionsOf("sonnet?structured=prompt")).contains("output_config"));
}

TEST(AnthropicAnswer, TextAndUsage) {
  const ChatResponse response = ParseOk(
      AnthropicFormat(),
      R"({"id":"m","model":"claude-haiku-4-5-20251001","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],
      "stop_reason":"end_turn","usage":{"input_tokens":5,"cache_creation_input_tokens":7,"cache_read_input_tokens":4200,"output_tokens":9}})");
  EXPECT_EQ(response.text, "ab");
  EXPECT_EQ(response.served_model, "claude-haiku-4-5-20251001");
  EXPECT_EQ(response.stop, StopReason::kEnd);
  EXPECT_EQ(response.usage.input, 5);
  EXPECT_EQ(response.usage.cache_write, 7);
  EXPECT_EQ(response.usage.cache_read, 4200);
  EXPECT_EQ(response.usage.output, 9);
  EXPECT_EQ(response.usage.prompt(), 4212);
  EXPECT_TRUE(response.provider_blocks.is_null());
}

TEST(AnthropicAnswer, StopReasons) {
  for (const auto& [word, stop] : {std::pair{"end_turn", StopReason::kEnd},
                                   {"stop_sequence", StopReason::kEnd},
                                   {"max_tokens", StopReason::kLength},
                                   {"tool_use", StopReason::kToolUse},
                                   {"refusal", StopReason::kRefusal},
                                   {"model_context_window_exceeded", StopReason::kContext},
                                   {"pause_turn", StopReason::kEnd},
                                   {"new", StopReason::kEnd}}) {
    EXPECT_EQ(ParseOk(AnthropicFormat(), std::string(R"({"content":[],"stop_reason":")") + word + "\"}").stop, stop)
        << word;
  }
}

TEST(AnthropicAnswer, ThinkingBeforeACallIsKeptForTheNextTurn) {
  const ChatResponse response = ParseOk(
      AnthropicFormat(),
      R"({"content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"redacted_thinking","data":"x"},
      {"type":"tool_use","id":"t","name":"weather","input":{"city":"Paris"}}],"stop_reason":"tool_use"})");
  EXPECT_EQ(response.reasoning, "hm");
  ASSERT_EQ(response.tool_calls.size(), 1U);
  EXPECT_EQ(response.tool_calls[0].arguments["city"], "Paris");
  EXPECT_EQ(response.provider_blocks.size(), 3U);
  EXPECT_EQ(response.provider_blocks[0]["signature"], "s");
}

TEST(AnthropicAnswer, OddBodies) {
  for (const char* body : {"{}", "[]", "null", "7", R"({"content":"x"})"}) {
    const Result<ChatResponse> response = AnthropicFormat().parse(Json::parse(body));
    ASSERT_FALSE(response.ok()) << body;
    EXPECT_EQ(response.error().kind, ErrorKind::kUnavailable);
  }
  const ChatResponse odd =
      ParseOk(AnthropicFormat(),
              R"({"content":[null,7,{"type":7},{"type":"text"},{"type":"tool_use","input":[1]}],"stop_reason":3,
      "usage":{"input_tokens":-5,"output_tokens":1e300,"cache_read_input_tokens":"x"},"model":[]})");
  EXPECT_EQ(odd.usage.input, 0);
  EXPECT_EQ(odd.usage.output, 0);
  ASSERT_EQ(odd.tool_calls.size(), 1U);
  EXPECT_TRUE(odd.tool_calls[0].arguments.is_null());
  EXPECT_EQ(odd.tool_calls[0].raw_arguments, "[1]");
}

TEST(AnthropicStream, ErrorsInside) {
  const auto overloaded =
      Replay(AnthropicFormat(), {R"({"type":"message_start","message":{}})",
                                 R"({"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}})"});
  ASSERT_FALSE(overloaded.ok());
  EXPECT_EQ(overloaded.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(overloaded.error().message, HasSubstr("Overloaded"));
  EXPECT_EQ(overloaded.error().cause, ErrorCause::kBroken) << "the answer had begun";
  const auto at_once =
      Replay(AnthropicFormat(), {R"({"type":"error","error":{"type":"overloaded_error","message":"m"}})"});
  EXPECT_EQ(at_once.error().cause, ErrorCause::kOverloaded);
  const auto invalid =
      Replay(AnthropicFormat(), {R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})"});
  EXPECT_EQ(invalid.error().kind, ErrorKind::kInput);
}

TEST(AnthropicStream, EndsEarly) {
  const auto cut = Replay(AnthropicFormat(),
                          {R"({"type":"message_start","message":{}})",
                           R"({"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}})",
                           R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}})"});
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(cut.error().cause, ErrorCause::kBroken);
}

TEST(AnthropicStream, ArgumentsThatAreNotJson) {
  const auto response = Replay(
      AnthropicFormat(),
      {R"({"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}})",
       R"({"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"s"}})",
       R"({"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"b","name":"empty","input":{}}})",
       R"({"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"broken","input":{}}})",
       R"({"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\": \"Par"}})",
       R"({"type":"ping"})",
       R"({"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":20}})",
       R"({"type":"message_stop"})"});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->stop, StopReason::kLength);
  EXPECT_EQ(response->usage.input, 3);
  EXPECT_EQ(response->usage.output, 20);
  ASSERT_EQ(response->tool_calls.size(), 2U);
  EXPECT_TRUE(response->tool_calls[0].arguments.is_null());
  EXPECT_EQ(response->tool_calls[0].raw_arguments, "{\"city\": \"Par");
  EXPECT_EQ(response->tool_calls[1].arguments, Json::object());
  EXPECT_EQ(response->provider_blocks[1]["input"], Json::object());  // the API accepts only objects
}

}  // namespace
}  // namespace upskill
