// SPDX-License-Identifier: Apache-2.0
#include "program/model_proxy.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/loopback_server.h"
#include "util/clock.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;

constexpr const char* kResponsesEnd =
    "data: {\"type\":\"response.completed\",\"response\":{\"model\":\"m\",\"output\":[{\"type\":\"message\","
    "\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}],\"usage\":{\"input_tokens\":7,\"output_tokens\":3}}}"
    "\n\n";
constexpr const char* kChatText = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
constexpr const char* kChatEnd = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
constexpr const char* kChatUsage =
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\ndata: [DONE]\n\n";
constexpr const char* kMessages =
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"content\":[],\"usage\":"
    "{\"input_tokens\":7,\"output_tokens\":1}}}\n\n";
constexpr const char* kMessagesEnd =
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"
    "{\"output_tokens\":3}}\n\n";
constexpr const char* kMessagesStop = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
constexpr const char* kGeminiEnd =
    "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"hi\"}]},\"finishReason\":\"STOP\"}],"
    "\"usageMetadata\":{\"promptTokenCount\":7,\"candidatesTokenCount\":3}}\n\n";

// A provider that serves one path, and a program that leaves as soon as it has seen a text.
class ModelProxyTest : public testing::Test {
 protected:
  ProxyRecord Ask(Protocol protocol, const std::string& target, std::string_view until, bool at_once = false) {
    ModelEndpoint endpoint;
    endpoint.protocol = protocol;
    endpoint.base_urls = {server_.url() + BasePathOf(protocol)};
    endpoint.model = "m";
    path_ = target;
    ModelProxy proxy(std::move(endpoint), client_, clock_);
    const ModelProxy::Ticket ticket = proxy.Open({});
    Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const name = reinterpret_cast<sockaddr*>(&address);  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    EXPECT_EQ(::bind(listener.get(), name, size), 0);
    EXPECT_EQ(::listen(listener.get(), 8), 0);
    EXPECT_EQ(::getsockname(listener.get(), name, &size), 0);
    proxy.Listen(ticket, std::move(listener));
    Fd program(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::connect(program.get(), name, size), 0);
    const std::string body = R"({"stream":true,"messages":[]})";
    const std::string request =
        "POST " + target + " HTTP/1.1\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(::send(program.get(), request.data(), request.size(), 0), static_cast<ssize_t>(request.size()));
    seen_.clear();
    std::array<char, 4096> buffer{};
    while (seen_.find(until) == std::string::npos) {
      const ssize_t got = ::recv(program.get(), buffer.data(), buffer.size(), 0);
      if (got <= 0) break;
      seen_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    program.Close();
    return proxy.Close(ticket, at_once);
  }

  static void ExpectCounted(const ProxyRecord& record) {
    EXPECT_EQ(record.answers, 1);
    EXPECT_EQ(record.usage.input, 7);
    EXPECT_EQ(record.usage.output, 3);
    ASSERT_EQ(record.requests.size(), 1U);
    EXPECT_FALSE(record.requests.front().error) << record.requests.front().error->message;
  }

  loopback::Script script_;
  std::string path_;
  std::string seen_;  // by the program
  std::shared_ptr<HttpClient> client_ = std::make_shared<HttpClient>();
  SystemClock clock_;
  loopback::Server server_{[this](const loopback::Request& request) {
    return request.path == path_ ? script_ : loopback::Answer(404, "{}");
  }};
};

TEST_F(ModelProxyTest, CountsAnAnswerOfWhichTheProgramDoesNotAwaitTheEnd) {
  // The pieces that follow what the program waits for, and the stream's end, are late.
  const milliseconds late{150};
  script_ = loopback::Sse({kResponsesEnd, ": late\n\n"}, late);
  ExpectCounted(Ask(Protocol::kResponses, "/v1/responses", "response.completed"));
  script_ = loopback::Sse({kChatText, kChatEnd, kChatUsage}, late);
  ExpectCounted(Ask(Protocol::kChat, "/v1/chat/completions", "finish_reason"));
  script_ = loopback::Sse({kMessages, kMessagesEnd, kMessagesStop}, late);
  ExpectCounted(Ask(Protocol::kMessages, "/v1/messages", "stop_reason"));
  script_ = loopback::Sse({kGeminiEnd, ": late\n\n"}, late);
  ExpectCounted(Ask(Protocol::kGemini, "/v1beta/models/m:streamGenerateContent?alt=sse", "finishReason"));
}

TEST_F(ModelProxyTest, CountsAStreamThatBreaksOffAfterItsLastEvent) {
  script_ = loopback::Sse({kResponsesEnd, ": late\n\n"}, milliseconds(100));
  script_.pop_back();
  script_.push_back(loopback::Reset());
  ExpectCounted(Ask(Protocol::kResponses, "/v1/responses", "\r\n0\r\n\r\n"));
  EXPECT_TRUE(seen_.ends_with("\r\n0\r\n\r\n"));  // for the program it is whole as well
}

TEST_F(ModelProxyTest, DoesNotTakePartOfAnAnswerForOne) {
  script_ = loopback::Sse({kChatText});
  script_.back() = loopback::Wait(milliseconds(60'000));
  const ProxyRecord stopped = Ask(Protocol::kChat, "/v1/chat/completions", "hi", true);
  EXPECT_EQ(stopped.answers, 0);
  ASSERT_EQ(stopped.requests.size(), 1U);
  EXPECT_EQ(stopped.requests.front().error->kind, ErrorKind::kCancelled);
  script_ = loopback::Sse({kChatText});
  EXPECT_EQ(Ask(Protocol::kChat, "/v1/chat/completions", "\r\n0\r\n\r\n").answers, 0);
}

}  // namespace
}  // namespace upskill
