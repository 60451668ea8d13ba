// SPDX-License-Identifier: Apache-2.0
#include "program/endpoint_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "util/json.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Kind = EndpointRequest::Kind;

ModelEndpoint EndpointFor(Protocol protocol) {
  ModelEndpoint endpoint;
  endpoint.protocol = protocol;
  endpoint.model = "real";
  endpoint.headers = {{"anthropic-version", "2023-06-01"}};
  endpoint.key = std::pair("x-api-key", Secret("key"));
  return endpoint;
}

ProxyRequest Post(const std::string& target, const Json& body) {
  ProxyRequest request;
  request.method = "POST";
  request.target = target;
  request.headers = {
      {"authorization", "Bearer dummy"}, {"host", "127.0.0.1"}, {"anthropic-beta", "b"}, {"anthropic-version", "1"}};
  request.body = DumpJson(body);
  return request;
}

std::string HeadersOf(const HttpRequest& request) {
  std::string text;
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\n";
  return text;
}

TEST(EndpointRequest, PutsModelKeyAndLimitsIn) {
  const auto chat = RequestForEndpoint(
      Post("/v1/chat/completions", {{"model", "fake"}, {"stream", true}, {"tools", Json::array({Json::object()})}}),
      EndpointFor(Protocol::kChat), "https://host/base");
  ASSERT_TRUE(chat.ok()) << chat.error().message;
  EXPECT_EQ(chat->http.url, "https://host/base/chat/completions");
  EXPECT_EQ(
      chat->http.body,
      R"({"model":"real","stream":true,"tools":[{}],"max_tokens":32000,"stream_options":{"include_usage":true}})");
  EXPECT_TRUE(chat->streamed && chat->has_tools);
  EXPECT_EQ(chat->http.secret_headers.size(), 1U);
  EXPECT_THAT(HeadersOf(chat->http), Not(HasSubstr("dummy")));

  const auto messages = RequestForEndpoint(Post("/v1/messages?beta=true", {{"model", "fake"}, {"max_tokens", 99'000}}),
                                           EndpointFor(Protocol::kMessages), "https://host");
  ASSERT_TRUE(messages.ok()) << messages.error().message;
  EXPECT_EQ(messages->http.url, "https://host/v1/messages?beta=true");
  EXPECT_EQ(messages->http.body, R"({"model":"real","max_tokens":32000})");
  EXPECT_THAT(HeadersOf(messages->http), HasSubstr("anthropic-beta: b"));

  const auto gemini =
      RequestForEndpoint(Post("/v1beta/models/flash:streamGenerateContent?alt=sse&key=dummy", Json::object()),
                         EndpointFor(Protocol::kGemini), "https://host");
  ASSERT_TRUE(gemini.ok()) << gemini.error().message;
  EXPECT_EQ(gemini->http.url, "https://host/v1beta/models/real:streamGenerateContent?alt=sse");
  EXPECT_TRUE(gemini->streamed);

  for (const char* base : {"https://host/v1", "https://host/v1beta"}) {
    const auto versioned = RequestForEndpoint(Post("/v1beta/models/flash:countTokens", Json::object()),
                                              EndpointFor(Protocol::kGemini), base);
    ASSERT_TRUE(versioned.ok()) << versioned.error().message;
    EXPECT_EQ(versioned->http.url, "https://host/v1beta/models/real:countTokens");
  }
  const auto versioned =
      RequestForEndpoint(Post("/v1/messages", Json::object()), EndpointFor(Protocol::kMessages), "https://host/api/v1");
  ASSERT_TRUE(versioned.ok()) << versioned.error().message;
  EXPECT_EQ(versioned->http.url, "https://host/api/v1/messages");

  const auto responses = RequestForEndpoint(Post("/v1/responses", {{"model", "fake"}, {"max_output_tokens", 7}}),
                                            EndpointFor(Protocol::kResponses), "https://host/v1");
  ASSERT_TRUE(responses.ok()) << responses.error().message;
  EXPECT_EQ(responses->max_tokens, 7);
}

TEST(EndpointRequest, LetsTheKeyBeUsedForNothingElse) {
  for (const char* target : {"/v1/files", "/v1/chat/completions/../files", "/v1/responses", "/", "/chat/completions",
                             "/v1/chat/completions/x"})
    EXPECT_FALSE(RequestForEndpoint(Post(target, Json::object()), EndpointFor(Protocol::kChat), "https://host").ok())
        << target;
  for (const char* target : {"/v1beta/files", "/v1beta/models/x:tune", "/v1beta/tuned/models/x:generateContent"})
    EXPECT_FALSE(RequestForEndpoint(Post(target, Json::object()), EndpointFor(Protocol::kGemini), "https://host").ok())
        << target;
  ProxyRequest request = Post("/v1/messages", Json::object());
  request.method = "DELETE";
  EXPECT_FALSE(RequestForEndpoint(request, EndpointFor(Protocol::kMessages), "https://host").ok());
  request.method = "POST";
  request.body = "[1, 2]";
  EXPECT_FALSE(RequestForEndpoint(request, EndpointFor(Protocol::kMessages), "https://host").ok());
}

std::string BodyOf(const std::string& target, const Json& body, Protocol protocol) {
  const auto made = RequestForEndpoint(Post(target, body), EndpointFor(protocol), "https://host");
  EXPECT_TRUE(made.ok()) << target;
  return made.ok() ? made->http.body : "";
}

// The provider's own tools would be a way to the network, and the other things cost more than was set aside.
TEST(EndpointRequest, AsksForOneAnswerOfTheModelAndNothingElse) {
  EXPECT_EQ(BodyOf("/v1/messages",
                   {{"max_tokens", 5},
                    {"service_tier", "priority"},
                    {"mcp_servers", Json::array({{{"url", "https://x"}}})},
                    {"tools",
                     {{{"type", "web_search_20250305"}, {"name", "web_search"}},
                      {{"type", "web_fetch_20250910"}, {"name", "web_fetch"}},
                      {{"type", "bash_20250124"}, {"name", "bash"}},
                      {{"name", "Read"}, {"input_schema", Json::object()}}}}},
                   Protocol::kMessages),
            R"({"max_tokens":5,"tools":[{"type":"bash_20250124","name":"bash"},{"name":"Read","input_schema":{}}],)"
            R"("model":"real"})");
  EXPECT_EQ(BodyOf("/v1/messages",
                   {{"max_tokens", 5},
                    {"tools", {{{"type", "web_search_20250305"}, {"name", "web_search"}}}},
                    {"tool_choice", {{"type", "tool"}, {"name", "web_search"}}}},
                   Protocol::kMessages),
            R"({"max_tokens":5,"model":"real"})");
  EXPECT_EQ(BodyOf("/v1/chat/completions",
                   {{"n", 100}, {"best_of", 9}, {"max_tokens", 5}, {"models", {"dear"}}, {"service_tier", "priority"}},
                   Protocol::kChat),
            R"({"max_tokens":5,"model":"real"})");
  EXPECT_EQ(BodyOf("/v1/responses",
                   {{"background", true},
                    {"max_output_tokens", 5},
                    {"tools", {{{"type", "web_search"}}, {{"type", "local_shell"}}, {{"type", "mcp"}}}}},
                   Protocol::kResponses),
            R"({"max_output_tokens":5,"tools":[{"type":"local_shell"}],"model":"real"})");
  EXPECT_EQ(
      BodyOf("/v1/responses",
             {{"max_output_tokens", 5},
              {"input",
               {"text",
                {{"type", "message"}, {"content", "c"}},
                {{"type", "additional_tools"}, {"tools", {{{"type", "web_search"}}, {{"type", "function"}}}}}}},
              {"tools", {{{"type", "function"}}}},
              {"tool_choice", {{"type", "web_search"}}}},
             Protocol::kResponses),
      R"({"max_output_tokens":5,"input":["text",{"type":"message","content":"c"},)"
      R"({"type":"additional_tools","tools":[{"type":"function"}]}],"tools":[{"type":"function"}],"model":"real"})");
  EXPECT_EQ(BodyOf("/v1beta/models/x:generateContent",
                   {{"generationConfig", {{"candidateCount", 8}, {"maxOutputTokens", 5}}},
                    {"tools", {{{"googleSearch", Json::object()}}, {{"functionDeclarations", Json::array({1})}}}}},
                   Protocol::kGemini),
            R"({"generationConfig":{"maxOutputTokens":5},"tools":[{"functionDeclarations":[1]}]})");
}

TEST(EndpointRequest, TakesSettingsOfAnyType) {
  for (const Json& wrong : {Json("x"), Json::array({1}), Json(1), Json(nullptr)}) {
    EXPECT_EQ(BodyOf("/v1/chat/completions", {{"stream", true}, {"max_tokens", 5}, {"stream_options", wrong}},
                     Protocol::kChat),
              R"({"stream":true,"max_tokens":5,"stream_options":{"include_usage":true},"model":"real"})");
    EXPECT_EQ(
        BodyOf("/v1beta/models/x:generateContent", {{"generationConfig", wrong}, {"tools", wrong}}, Protocol::kGemini)
                .find("maxOutputTokens") != std::string::npos,
        true);
    for (const char* key : {"tools", "max_tokens", "stream", "model", "input"})
      BodyOf("/v1/chat/completions", {{key, wrong}}, Protocol::kChat);
  }
  // Both limits of tokens hold.
  EXPECT_EQ(BodyOf("/v1/chat/completions", {{"max_completion_tokens", 5}, {"max_tokens", 99'000'000}}, Protocol::kChat),
            R"({"max_completion_tokens":5,"max_tokens":32000,"model":"real"})");
}

TEST(EndpointRequest, TellsCountsAndGreetingsFromAnswers) {
  const ModelEndpoint endpoint = EndpointFor(Protocol::kMessages);
  EXPECT_EQ(RequestForEndpoint(Post("/v1/messages/count_tokens", Json::object()), endpoint, "https://host")->kind,
            Kind::kOther);
  ProxyRequest request;
  request.method = "HEAD";
  request.target = "/";
  EXPECT_EQ(RequestForEndpoint(request, endpoint, "https://host")->kind, Kind::kHello);
  request.method = "GET";
  request.target = "/v1/models";
  EXPECT_EQ(RequestForEndpoint(request, endpoint, "https://host")->kind, Kind::kOther);
}

}  // namespace
}  // namespace upskill
