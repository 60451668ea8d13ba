// SPDX-License-Identifier: Apache-2.0
#include "program/proxy_answer.h"

#include <gtest/gtest.h>

#include <string>

namespace upskill {
namespace {

TEST(ProxyAnswer, CountsAStreamOfMessages) {
  ProxyAnswer answer(Protocol::kMessages, true);
  const std::string stream =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"content\":[],\"usage\":"
      "{\"input_tokens\":7,\"cache_read_input_tokens\":3,\"output_tokens\":1}}}\n\n"
      "event: content_block_start\ndata: "
      "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n"
      "event: content_block_delta\ndata: "
      "{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"hi\"}}\n\n"
      "event: message_delta\ndata: "
      "{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\n"
      "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
  for (const char byte : stream) answer.Feed(std::string_view(&byte, 1));
  const Result<ChatResponse> response = answer.Finish();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->usage.input, 7);
  EXPECT_EQ(response->usage.cache_read, 3);
  EXPECT_EQ(response->usage.output, 5);
}

TEST(ProxyAnswer, CountsGeminiOnce) {
  const std::string first =
      R"({"candidates":[{"content":{"parts":[{"text":"a"}]}}],"usageMetadata":{"promptTokenCount":10,"candidatesTokenCount":1}})";
  const std::string last =
      R"({"candidates":[{"finishReason":"MAX_TOKENS"}],"modelVersion":"flash","usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":4,"candidatesTokenCount":6,"thoughtsTokenCount":2}})";
  ProxyAnswer streamed(Protocol::kGemini, true);
  streamed.Feed("data: " + first + "\r\n\r\ndata: " + last);
  const Result<ChatResponse> response = streamed.Finish();
  ASSERT_TRUE(response.ok()) << response.error().message;
  EXPECT_EQ(response->usage.input, 6);
  EXPECT_EQ(response->usage.cache_read, 4);
  EXPECT_EQ(response->usage.output, 8);
  EXPECT_EQ(response->stop, StopReason::kLength);
  EXPECT_EQ(response->served_model, "flash");

  ProxyAnswer whole(Protocol::kGemini, false);
  whole.Feed(last);
  EXPECT_EQ(whole.Finish()->usage.output, 8);
}

TEST(ProxyAnswer, TellsWhatIsNotWhole) {
  ProxyAnswer cut(Protocol::kGemini, true);
  cut.Feed("data: {\"candidates\":[{\"content\":{\"parts\":[]}}]}\n\n");
  EXPECT_EQ(cut.Finish().error().cause, ErrorCause::kBroken);
  ProxyAnswer chat(Protocol::kChat, true);
  chat.Feed("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n");
  EXPECT_FALSE(chat.Finish().ok());
  ProxyAnswer error(Protocol::kChat, true);
  error.Feed("data: {\"error\":{\"message\":\"overloaded\",\"code\":529}}\n\n");
  EXPECT_FALSE(error.Finish().ok());
  ProxyAnswer page(Protocol::kResponses, false);
  page.Feed("<html>");
  EXPECT_FALSE(page.Finish().ok());
}

}  // namespace
}  // namespace upskill
