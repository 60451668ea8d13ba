// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "model/wire/formats.h"
#include "model/wire/wire_replay_test.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const WireFormat& ChatFormat() { return WireFormatOf(Wire::kChat); }

TEST(ChatRequestBody, Plain) {
  ChatRequest request = WireQuestion("hi");
  request.system = "s";
  request.sampling.seed = 0x1'0000'0007;
  request.simulation = {{"arm", "skill"}};
  EXPECT_EQ(
      Text(BuildChat(request, OptionsOf("generic.x"))),
      R"({"model":"x","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}],"max_tokens":100,"seed":7})");
}

TEST(ChatRequestBody, OpenAi) {
  ChatRequest request = WireQuestion("hi");
  request.system = "s";
  WireOptions options = OptionsOf("openai.gpt-5-mini.low?verbosity=high");
  options.stream = true;
  const Json body = BuildChat(request, options);
  EXPECT_EQ(body["max_completion_tokens"], 100);
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_EQ(body["reasoning_effort"], "low");
  EXPECT_EQ(body["verbosity"], "high");
  EXPECT_EQ(body["prompt_cache_key"].get<std::string>().size(), 40U);
  EXPECT_EQ(body["stream_options"]["include_usage"], true);
  request.messages.front().text = "another question";
  EXPECT_EQ(BuildChat(request, options)["prompt_cache_key"], body["prompt_cache_key"]);
}

TEST(ChatRequestBody, OpenRouterReasoning) {
  EXPECT_EQ(Text(BuildChat(WireQuestion("hi"), OptionsOf("openrouter.a/b.high"))["reasoning"]), R"({"effort":"high"})");
}

TEST(ChatRequestBody, ToolLoop) {
  const Json body = BuildChat(ToolLoop(), OptionsOf("generic.x"));
  EXPECT_EQ(body["tools"][0]["function"]["name"], "weather");
  EXPECT_EQ(Text(body["messages"][1]),
            R"({"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function",)"
            R"("function":{"name":"weather","arguments":"{\"city\": \"Paris\"}"}}]})");
  EXPECT_EQ(Text(body["messages"][2]), R"({"role":"tool","tool_call_id":"call_1","content":"sunny"})");
  EXPECT_EQ(Text(body["messages"][3]), R"({"role":"user","content":"Go on."})");
}

TEST(ChatRequestBody, BrokenArgumentsAreNotRepeated) {
  ChatRequest request = ToolLoop();
  request.messages[1].tool_calls[0].arguments = nullptr;
  request.messages[1].tool_calls[0].raw_arguments = "{\"city";
  EXPECT_EQ(BuildChat(request, OptionsOf("generic.x"))["messages"][1]["tool_calls"][0]["function"]["arguments"], "{}");
}

TEST(ChatRequestBody, SchemasAreStrictWhereTheyCanBe) {
  ChatRequest request = WireQuestion("hi");
  request.answer_schema = Json::parse(
      R"({"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false})");
  const Json strict = BuildChat(request, OptionsOf("gpt-4o"))["response_format"];
  EXPECT_EQ(strict["json_schema"]["strict"], true);
  EXPECT_EQ(strict["json_schema"]["schema"], *request.answer_schema);
  (*request.answer_schema)["required"] = Json::array();
  EXPECT_EQ(BuildChat(request, OptionsOf("gpt-4o"))["response_format"]["json_schema"]["strict"], false);
  EXPECT_FALSE(BuildChat(request, OptionsOf("deepseek")).contains("response_format"));
}

TEST(ChatAnswer, ToolCallsAndUsage) {
  const ChatResponse response = ParseOk(
      ChatFormat(), R"({"id":"c","model":"gpt-5-mini-2025-08-07","choices":[{"index":0,"finish_reason":"tool_calls",
      "message":{"role":"assistant","content":null,"refusal":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]}}],
      "usage":{"prompt_tokens":20,"completion_tokens":80,"total_tokens":100,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":64}}})");
  EXPECT_EQ(response.stop, StopReason::kToolUse);
  ASSERT_EQ(response.tool_calls.size(), 1U);
  EXPECT_EQ(response.tool_calls[0].arguments["path"], "a");
  EXPECT_EQ(response.usage.input, 12);
  EXPECT_EQ(response.usage.cache_read, 8);
  EXPECT_EQ(response.usage.output, 80);
  EXPECT_EQ(response.usage.reasoning, 64);
  EXPECT_FALSE(response.cost_usd.has_value());
  EXPECT_TRUE(response.provider_blocks.is_null());
}

TEST(ChatAnswer, UsageInOtherFormats) {
  const auto usage = [](const std::string& fields) {
    return ParseOk(ChatFormat(), R"({"choices":[{"message":{"content":"x"}}],)" + fields + "}").usage;
  };
  EXPECT_EQ(usage(R"("usage":{"prompt_tokens":10,"completion_tokens":2},"timings":{"cache_n":6})").cache_read,
            6);                                                                              // llama-server
  EXPECT_EQ(usage(R"("usage":{"prompt_tokens":10,"prompt_cache_hit_tokens":7})").input, 3);  // DeepSeek
  EXPECT_EQ(usage(R"("usage":{"prompt_tokens":10,"completion_tokens":2,"total_tokens":42})").output, 32);  // Gemini
  const Usage routed = usage(
      R"("usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":4,"cache_write_tokens":5}})");  // OpenRouter
  EXPECT_EQ(routed.input, 1);
  EXPECT_EQ(routed.cache_write, 5);
  EXPECT_EQ(usage(R"("usage":{"prompt_tokens":1,"prompt_tokens_details":{"cached_tokens":99,"cache_write_tokens":99}})")
                .input,
            0);
  EXPECT_EQ(usage(R"("usage":null)").prompt(), 0);
}

TEST(ChatAnswer, CostReportedByTheProvider) {
  EXPECT_EQ(ParseOk(ChatFormat(), R"({"choices":[{"message":{"content":"x"}}],"usage":{"cost":0.25}})").cost_usd, 0.25);
  EXPECT_FALSE(
      ParseOk(ChatFormat(), R"({"choices":[{"message":{"content":"x"}}],"usage":{"cost":-1}})").cost_usd.has_value());
}

TEST(ChatAnswer, Reasoning) {
  EXPECT_EQ(ParseOk(ChatFormat(), R"({"choices":[{"message":{"content":"x","reasoning_content":"r"}}]})").reasoning,
            "r");
  EXPECT_EQ(
      ParseOk(ChatFormat(), R"({"choices":[{"message":{"content":[{"type":"text","text":"x"}],"reasoning":"r"}}]})")
          .reasoning,
      "r");
}

TEST(ChatAnswer, WhatALoopMustReturn) {
  const ChatResponse response = ParseOk(
      ChatFormat(), R"({"choices":[{"finish_reason":"tool_calls","message":{"content":"","reasoning_content":"r",
      "tool_calls":[{"id":"c","function":{"name":"f","arguments":"nonsense"},"extra_content":{"google":{"thought_signature":"s"}}}]}}]})");
  EXPECT_TRUE(response.tool_calls[0].arguments.is_null());
  EXPECT_EQ(response.tool_calls[0].raw_arguments, "nonsense");
  EXPECT_EQ(Text(response.provider_blocks),
            R"({"role":"assistant","content":"","reasoning_content":"r","tool_calls":[{"id":"c","type":"function",)"
            R"("function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]})");
  EXPECT_EQ(Text(BuildChat(ToolLoop(response.provider_blocks), OptionsOf("generic.x"))["messages"][1]),
            Text(response.provider_blocks));
}

TEST(ChatAnswer, StopReasonsAndRefusals) {
  const auto stop = [](const std::string& choice) { return ParseOk(ChatFormat(), R"({"choices":[)" + choice + "]}"); };
  EXPECT_EQ(stop(R"({"finish_reason":"stop","message":{"content":"x"}})").stop, StopReason::kEnd);
  EXPECT_EQ(stop(R"({"finish_reason":"length","message":{"content":"x"}})").stop, StopReason::kLength);
  EXPECT_EQ(stop(R"({"finish_reason":"content_filter","message":{"content":""}})").stop, StopReason::kRefusal);
  EXPECT_EQ(stop(R"({"finish_reason":"stop","message":{"tool_calls":[{"id":"a","function":{"name":"f"}}]}})").stop,
            StopReason::kToolUse);
  const ChatResponse refused = stop(R"({"finish_reason":"stop","message":{"content":null,"refusal":"I can't."}})");
  EXPECT_EQ(refused.stop, StopReason::kRefusal);
  EXPECT_EQ(refused.text, "I can't.");
}

TEST(ChatAnswer, ErrorsInASuccess) {
  struct Case {
    const char* body;
    ErrorKind kind;
  };
  for (const Case& c :
       {Case{R"({"error":{"code":502,"message":"down"}})", ErrorKind::kUnavailable},
        Case{R"({"error":{"code":402,"message":"credits"}})", ErrorKind::kPermanent},
        Case{R"({"error":{"code":400,"message":"bad"}})", ErrorKind::kInput},
        Case{R"({"error":{"code":403,"message":"moderation"}})", ErrorKind::kInput},
        Case{R"({"error":"text"})", ErrorKind::kUnavailable},
        Case{R"({"object":"error","message":"old vLLM"})", ErrorKind::kUnavailable},
        Case{R"({"error":{"type":"insufficient_quota","message":"no"}})", ErrorKind::kPermanent},
        Case{R"({"choices":[{"finish_reason":"error","error":{"code":503,"message":"gone"}}]})",
             ErrorKind::kUnavailable},
        Case{R"({"choices":[{"finish_reason":"error","message":{"content":"half"}}]})", ErrorKind::kUnavailable},
        Case{R"({"choices":[]})", ErrorKind::kUnavailable}, Case{R"({"choices":[null]})", ErrorKind::kUnavailable},
        Case{"{}", ErrorKind::kUnavailable}}) {
    const Result<ChatResponse> response = ChatFormat().parse(Json::parse(c.body));
    ASSERT_FALSE(response.ok()) << c.body;
    EXPECT_EQ(response.error().kind, c.kind) << c.body;
  }
  const auto cause_of = [](const char* body) { return ChatFormat().parse(Json::parse(body)).error().cause; };
  EXPECT_EQ(cause_of(R"({"error":{"code":429,"message":"m"}})"), ErrorCause::kRateLimit);
  EXPECT_EQ(cause_of(R"({"error":{"code":502,"message":"m"}})"), ErrorCause::kServerError);
  EXPECT_EQ(cause_of(R"({"error":{"code":403,"message":"m"}})"), ErrorCause::kFiltered);
  EXPECT_EQ(cause_of(R"({"choices":[]})"), ErrorCause::kUnusable);
  EXPECT_EQ(cause_of(R"({"choices":[{"error":{"code":503,"message":"m"}}]})"), ErrorCause::kBroken);
  ParseOk(ChatFormat(), R"({"error":null,"choices":[{"message":{"content":"x"}}]})");
}

TEST(ChatStream, TextReasoningUsage) {
  const auto response = Replay(
      ChatFormat(), {R"({"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})",
                     R"({"choices":[{"index":0,"delta":{"reasoning_content":"hm","reasoning":"hm"}}]})",
                     R"({"choices":[{"index":0,"delta":{"content":"Hel"}}]})",
                     R"({"choices":[{"index":1,"delta":{"content":"other"}}]})",
                     R"({"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]})",
                     R"({"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}})", "[DONE]"});
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->text, "Hello");
  EXPECT_EQ(response->reasoning, "hm");
  EXPECT_EQ(response->usage.output, 2);
  EXPECT_EQ(response->served_model, "m");
}

TEST(ChatStream, CallsInEveryNumbering) {
  const auto numbered = Replay(
      ChatFormat(),
      {R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":""}}]}}]})",
       R"({"choices":[{"delta":{"tool_calls":[{"index":1,"id":"b","function":{"name":"g","arguments":"{\"y\":"}}]}}]})",
       R"({"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"x\":1}"}},{"index":1,"function":{"arguments":"2}"}}]}}]})",
       R"({"choices":[{"delta":{},"finish_reason":"tool_calls"}]})"});
  ASSERT_TRUE(numbered.ok());
  ASSERT_EQ(numbered->tool_calls.size(), 2U);
  EXPECT_EQ(numbered->tool_calls[0].arguments["x"], 1);
  EXPECT_EQ(numbered->tool_calls[1].arguments["y"], 2);
  // Gemini numbers every call 0 and sends each whole.
  const auto whole = Replay(
      ChatFormat(),
      {R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]})",
       R"({"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g","arguments":"{}"}}]},"finish_reason":"stop"}]})",
       "[DONE]"});
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->tool_calls.size(), 2U);
  EXPECT_EQ(whole->stop, StopReason::kToolUse);
  const auto unnumbered = Replay(
      ChatFormat(),
      {R"({"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\""}}]}}]})",
       R"({"choices":[{"delta":{"tool_calls":[{"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]})"});
  ASSERT_TRUE(unnumbered.ok());
  ASSERT_EQ(unnumbered->tool_calls.size(), 1U);
  EXPECT_EQ(unnumbered->tool_calls[0].arguments["x"], 1);
}

TEST(ChatStream, EndsEarlyOrBadly) {
  EXPECT_EQ(Replay(ChatFormat(), {R"({"choices":[{"delta":{"content":"half"}}]})"}).error().kind,
            ErrorKind::kUnavailable);
  EXPECT_EQ(Replay(ChatFormat(), {}).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(Replay(ChatFormat(), {"{\"choices\":"}).error().kind, ErrorKind::kUnavailable);
  EXPECT_EQ(
      Replay(ChatFormat(), {R"({"choices":[{"delta":{"content":"x"}}]})", R"({"error":{"code":502,"message":"down"}})"})
          .error()
          .kind,
      ErrorKind::kUnavailable);
  EXPECT_EQ(
      Replay(ChatFormat(), {R"({"choices":[{"finish_reason":"error","error":{"code":400,"message":"x"},"delta":{}}]})"})
          .error()
          .kind,
      ErrorKind::kInput);
  EXPECT_EQ(Replay(ChatFormat(), {"[DONE]"})->text, "");
}

TEST(ChatStream, OddEventsAreHarmless) {
  const std::vector<std::string> events = {
      "7",
      "null",
      "[]",
      R"({"choices":7})",
      R"({"choices":[7,null,{"delta":7}]})",
      R"({"choices":[{"delta":{"tool_calls":[7,null,{}]}}]})",
      R"({"choices":[{"delta":{"tool_calls":7,"content":{},"reasoning_details":[7,{"index":0},{"index":0,"text":3}]}}]})",
      "[DONE]"};
  EXPECT_TRUE(Replay(ChatFormat(), events).ok());
}

TEST(ChatStream, EndlessCallsAreAnError) {
  const std::unique_ptr<StreamAssembler> assembler = ChatFormat().assembler();
  Status status;
  for (int i = 0; i < 2000 && status; ++i) {
    status = assembler->Take(
        {"", R"({"choices":[{"delta":{"tool_calls":[{"index":)" + std::to_string(i) + R"(,"id":"c"}]}}]})"});
  }
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("more than 1000 parts"));
}

TEST(ParseBody, LoneSurrogatesAreReplaced) {
  const auto text_of = [](const std::string& escaped) {
    const Result<Json> body = ParseBody(R"({"a":")" + escaped + "\"}");
    return body.ok() ? body->at("a").get<std::string>() : body.error().message;
  };
  EXPECT_EQ(text_of(R"(teal \ud83d)"), "teal \xEF\xBF\xBD");
  EXPECT_EQ(text_of(R"(\ude00 \ud83d\ude00 \\ud83d \ud83dx)"), "\xEF\xBF\xBD \xF0\x9F\x98\x80 \\ud83d \xEF\xBF\xBDx");
}

TEST(ParseBody, SaysWhatIsWrongWithJson) {
  const auto error = [](const std::string& body) { return ParseBody(body).error().message; };
  EXPECT_THAT(error(R"({"choices":[{"mess)"),
              AllOf(HasSubstr("the server's response:1:19: "), HasSubstr("ends too early"),
                    HasSubstr(R"(; it begins with: {"choices":[{"mess)")));
  EXPECT_THAT(error(R"({"loss": NaN})"), HasSubstr("the server's response:1:10: "));
  EXPECT_THAT(error(std::string(300, '[') + std::string(300, ']')), HasSubstr("nested deeper than 200 levels"));
  EXPECT_THAT(error("Bad Gateway"), Not(HasSubstr("begins with")));
  EXPECT_EQ(error(""), "the server's response isn't JSON: (empty)");
}

TEST(ParseBody, InvalidUtf8IsReplaced) {
  const Result<Json> body = ParseBody("{\"choices\":[{\"message\":{\"content\":\"a\xff\"}}]}");
  ASSERT_TRUE(body.ok());
  EXPECT_EQ(ChatFormat().parse(*body)->text, "a\xEF\xBF\xBD");
  const Result<Json> page = ParseBody("<html>\x1b[2J" + std::string(500, 'x'));
  EXPECT_EQ(page.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(page.error().message, HasSubstr("<html>\x1b[2J"));
  EXPECT_LT(page.error().message.size(), 200U);
}

}  // namespace
}  // namespace upskill
