// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_protocol.h"

#include <gmock/gmock.h>

#include <limits>
#include <string>

namespace upskill {
namespace {

using ::testing::HasSubstr;

TEST(WorkerProtocol, MessagesArriveInPieces) {
  const std::string bytes = EncodeMessage({{"type", "a"}}) + EncodeMessage({{"type", "b"}});
  MessageReader reader(1000);
  std::string types;
  for (const char byte : bytes) {
    reader.Add({&byte, 1});
    const Result<std::optional<Json>> message = reader.Next();
    ASSERT_TRUE(message.ok());
    if (*message) types += StringAt(**message, "type");
  }
  EXPECT_EQ(types, "ab");
}

// The worker may have been taken over by a damaged file.
TEST(WorkerProtocol, AnythingElseIsAnError) {
  for (const std::string& bytes :
       {std::string("\xFF\xFF\xFF\xFFx"), std::string("\x03\0\0\0[1]", 7), std::string("\x03\0\0\0{1}", 7),
        EncodeMessage(Json::parse(std::string(150, '[') + std::string(150, ']')))}) {
    MessageReader reader(1000);
    reader.Add(bytes);
    const Result<std::optional<Json>> message = reader.Next();
    ASSERT_FALSE(message.ok());
    EXPECT_THAT(message.error().message, HasSubstr("message"));
  }
}

TEST(WorkerProtocol, RequestsStayTheSame) {
  ChatRequest request;
  request.system = "Be \"nice\".\n\u2402";
  request.messages = {{Role::kUser, "one"}, {Role::kAssistant, "two"}, {Role::kUser, ""}};
  request.sampling = {0.1 + 0.2, 77, std::numeric_limits<std::uint64_t>::max()};
  request.answer_schema = Json::parse(R"({"z":1,"a":{"y":[],"b":null}})");
  request.more_follows = true;
  const ChatRequest read = RequestFromJson(*ParseJson(DumpJson(RequestToJson(request)), "test"));
  EXPECT_EQ(read.system, request.system);
  ASSERT_EQ(read.messages.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.messages[i].role, request.messages[i].role);
    EXPECT_EQ(read.messages[i].text, request.messages[i].text);
  }
  EXPECT_EQ(read.sampling.temperature, request.sampling.temperature);
  EXPECT_EQ(read.sampling.max_tokens, 77);
  EXPECT_EQ(read.sampling.seed, request.sampling.seed);
  EXPECT_EQ(DumpJson(*read.answer_schema), R"({"z":1,"a":{"y":[],"b":null}})");  // in the same order
  EXPECT_TRUE(read.more_follows);
  const ChatRequest empty = RequestFromJson(RequestToJson({}));
  EXPECT_EQ(empty.sampling.temperature, std::nullopt);
  EXPECT_EQ(empty.answer_schema, std::nullopt);
  EXPECT_FALSE(empty.more_follows);
}

TEST(WorkerProtocol, ToolsAndCallsStayTheSame) {
  ChatRequest request;
  request.tools = {{"bash", "Runs it.", Json::parse(R"({"type":"object","properties":{}})")}};
  Message call{Role::kAssistant, ""};
  call.tool_calls.push_back({"c1", "bash", {{"command", "ls"}}, R"({"command":"ls"})"});
  Message result{Role::kUser, ""};
  result.tool_results.push_back({"c1", "a.txt", true});
  request.messages = {call, result};
  const ChatRequest read = RequestFromJson(*ParseJson(DumpJson(RequestToJson(request)), "test"));
  ASSERT_EQ(read.tools.size(), 1U);
  EXPECT_EQ(read.tools[0].name + read.tools[0].description, "bashRuns it.");
  EXPECT_EQ(read.tools[0].schema, request.tools[0].schema);
  ASSERT_EQ(read.messages.size(), 2U);
  ASSERT_EQ(read.messages[0].tool_calls.size(), 1U);
  EXPECT_EQ(read.messages[0].tool_calls[0].id, "c1");
  EXPECT_EQ(read.messages[0].tool_calls[0].arguments, call.tool_calls[0].arguments);
  ASSERT_EQ(read.messages[1].tool_results.size(), 1U);
  EXPECT_EQ(read.messages[1].tool_results[0].text, "a.txt");

  ChatResponse response;
  response.tool_calls = {{"", "bash", Json(), R"({"command":"l)"}};  // cut off
  const ChatResponse answered = ResponseFromJson(*ParseJson(DumpJson(ResponseToJson(response)), "test"));
  ASSERT_EQ(answered.tool_calls.size(), 1U);
  EXPECT_EQ(answered.tool_calls[0].name, "bash");
  EXPECT_TRUE(answered.tool_calls[0].arguments.is_null());
  EXPECT_EQ(answered.tool_calls[0].raw_arguments, R"({"command":"l)");
}

TEST(WorkerProtocol, ResponsesStayTheSame) {
  ChatResponse response;
  response.text = "blue";
  response.reasoning = "sky";
  response.stop = StopReason::kLength;
  response.usage = {1, 2, 3, 4, 5};
  response.seconds = 1.0 / 3.0;
  const ChatResponse read = ResponseFromJson(*ParseJson(DumpJson(ResponseToJson(response)), "test"));
  EXPECT_EQ(read.text, "blue");
  EXPECT_EQ(read.reasoning, "sky");
  EXPECT_EQ(read.stop, StopReason::kLength);
  EXPECT_EQ(read.usage.input, 1);
  EXPECT_EQ(read.usage.cache_read, 2);
  EXPECT_EQ(read.usage.cache_write, 3);
  EXPECT_EQ(read.usage.output, 4);
  EXPECT_EQ(read.usage.reasoning, 5);
  EXPECT_EQ(read.seconds, response.seconds);
}

TEST(WorkerProtocol, ImpossibleUsageCountsAsNone) {
  const Json json = Json::parse(R"({"usage":{"input":-5,"output":1e300,"cache_read":"7"}})");
  const ChatResponse read = ResponseFromJson(json);
  EXPECT_EQ(read.usage.prompt(), 0);
  EXPECT_EQ(read.usage.output, 0);
}

TEST(WorkerProtocol, ErrorsStayTheSame) {
  for (const ErrorKind kind : {ErrorKind::kInput, ErrorKind::kNotFound, ErrorKind::kIo, ErrorKind::kUnavailable,
                               ErrorKind::kPermanent, ErrorKind::kCancelled}) {
    const Error read = ErrorFromJson(ErrorToJson({kind, "reason"}));
    EXPECT_EQ(read.kind, kind);
    EXPECT_EQ(read.message, "reason");
  }
}

TEST(WorkerProtocol, OrdersStayTheSame) {
  LoadOrder order;
  order.options.name = "small";
  order.options.parallel = 3;
  order.options.threads = 2;
  order.options.context_tokens = 512;
  order.options.promise_patience = std::chrono::milliseconds(7);
  order.beat = std::chrono::milliseconds(9);
  order.logs = true;
  const LoadOrder read = LoadOrderFrom(LoadMessage(order));
  EXPECT_EQ(read.options.name, "small");
  EXPECT_EQ(read.options.parallel, 3);
  EXPECT_EQ(read.options.threads, 2);
  EXPECT_EQ(read.options.context_tokens, 512);
  EXPECT_EQ(read.options.promise_patience, std::chrono::milliseconds(7));
  EXPECT_EQ(read.beat, std::chrono::milliseconds(9));
  EXPECT_TRUE(read.logs);
}

}  // namespace
}  // namespace upskill
