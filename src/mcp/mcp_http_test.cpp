// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_http.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "mcp/mcp_tools.h"
#include "support/loopback_server.h"
#include "util/json.h"

namespace upskill {
namespace {

using loopback::Answer;
using loopback::Request;
using loopback::Script;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Json MessageOf(const Request& request) {
  const Result<Json> message = ParseJson(request.body.empty() ? "{}" : request.body, "the request");
  EXPECT_TRUE(message.ok()) << request.body;
  return message.ok() ? *message : Json::object();
}

std::string ResultText(const Json& id, const Json& result) {
  return DumpJson({{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

std::string ErrorText(const Json& id, int code, const std::string& message) {
  return DumpJson({{"jsonrpc", "2.0"}, {"id", id}, {"error", {{"code", code}, {"message", message}}}});
}

const Json kServerHello = {{"protocolVersion", "2025-03-26"}, {"serverInfo", {{"name", "books"}, {"version", "2"}}}};
const Json kServerTools = {{"tools", Json::array({{{"name", "find"}}})}};

// A server with a session: answers what is asked in JSON, and calls with `call`.
Script SessionServer(const Request& request, const std::function<Script(const Json& message)>& call) {
  if (request.method == "DELETE") return Answer(200, "");
  const Json message = MessageOf(request);
  const std::string method = StringAt(message, "method");
  if (method == "initialize") return Answer(200, ResultText(message["id"], kServerHello), {{"Mcp-Session-Id", "s-1"}});
  if (request.headers.count("mcp-session-id") == 0 || request.headers.at("mcp-session-id") != "s-1")
    return Answer(400, "no session");
  if (!message.contains("id") || method.empty()) return Answer(202, "");
  if (method == "tools/list") return Answer(200, ResultText(message["id"], kServerTools));
  return call(message);
}

class McpHttpTest : public testing::Test {
 protected:
  std::unique_ptr<McpHttp> Connect(const std::string& url, milliseconds time = seconds(20)) {
    auto server =
        std::make_unique<McpHttp>(McpAddress{url, {{"Authorization", Secret("Bearer of-the-tests-1")}}}, client_);
    server->Begin(steady_clock::now() + time, nullptr, 1);
    return server;
  }

  std::shared_ptr<HttpClient> client_ = std::make_shared<HttpClient>();
};

TEST_F(McpHttpTest, ASessionFromBeginningToEnd) {
  const loopback::Server server([](const Request& request) {
    return SessionServer(request, [](const Json& message) {
      return Answer(200, ResultText(message["id"], {{"content", Json::array({{{"type", "text"}, {"text", "a\nb"}}})}}));
    });
  });
  {
    const auto http = Connect(server.url() + "/mcp");
    McpSession session(http->connection());
    const Result<McpTools> found = session.Open();
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(found->server, "books 2");
    EXPECT_EQ(found->tools.size(), 1U);
    const Result<McpResult> said = session.Call("find", {{"title", "ä"}});
    ASSERT_TRUE(said.ok()) << said.error().message;
    EXPECT_EQ(said->text, "a\nb");
  }
  const std::vector<Request> requests = server.requests();
  ASSERT_EQ(requests.size(), 5U);
  for (const Request& request : requests) {
    EXPECT_EQ(request.path, "/mcp");
    EXPECT_EQ(request.headers.at("authorization"), "Bearer of-the-tests-1");
    const bool first = &request == &requests.front();
    EXPECT_EQ(request.headers.count("mcp-protocol-version"), first ? 0U : 1U);
    EXPECT_EQ(request.headers.count("mcp-session-id"), first ? 0U : 1U);
    EXPECT_EQ(request.headers.count("mcp-method"), 0U);
  }
  EXPECT_EQ(requests[1].headers.at("mcp-protocol-version"), "2025-03-26");
  EXPECT_EQ(requests[3].headers.at("accept"), "application/json, text/event-stream");
  EXPECT_EQ(requests[3].headers.at("content-type"), "application/json");
  EXPECT_EQ(requests[4].method, "DELETE");
  EXPECT_EQ(requests[4].headers.at("mcp-session-id"), "s-1");
}

// Events in pieces, before the answer a notification and a request of the server; the stream stays open afterwards.
TEST_F(McpHttpTest, AnswersInAStreamOfEvents) {
  const loopback::Server server([](const Request& request) {
    return SessionServer(request, [](const Json& message) {
      Script stream = loopback::Sse(
          {": hello\n\nevent: message\ndata: {\"jsonrpc\": \"2.0\",\n",
           "data:  \"method\": \"notifications/progress\"}\n\nid: 1\ndata: {\"jsonrpc\": \"2.0\", \"id\": 7, "
           "\"method\": ",
           "\"roots/list\"}\n\ndata: " +
               ResultText(message["id"], {{"content", Json::array({{{"type", "text"}, {"text", "x"}}})}}) + "\n\n"});
      stream.insert(stream.end() - 1, loopback::Wait(seconds(60)));
      return stream;
    });
  });
  const auto http = Connect(server.url());
  McpSession session(http->connection());
  ASSERT_TRUE(session.Open().ok());
  for (int i = 0; i < 4; ++i) {
    const Result<McpResult> said = session.Call("find", Json::object());
    ASSERT_TRUE(said.ok()) << said.error().message;
    EXPECT_EQ(said->text, "x");
  }
  const std::vector<Request> requests = server.requests();
  EXPECT_THAT(requests[4].body, AllOf(HasSubstr("-32601"), HasSubstr("\"id\":7")));
}

// The version 2026-07-28: no handshake, no session, and each request says what it is.
TEST_F(McpHttpTest, AServerWithoutSessions) {
  const loopback::Server server([](const Request& request) {
    const Json message = MessageOf(request);
    const auto header = [&](const char* name) {
      return request.headers.count(name) == 0 ? "" : request.headers.at(name);
    };
    const Json& meta = Member(Member(message, "params"), "_meta");
    if (header("mcp-protocol-version") != kStatelessMcp || header("mcp-method") != StringAt(message, "method") ||
        StringAt(meta, "io.modelcontextprotocol/protocolVersion") != kStatelessMcp)
      return Answer(400, ErrorText(nullptr, -32022, "Unsupported protocol version"));
    if (StringAt(message, "method") == "tools/list") return Answer(200, ResultText(message["id"], kServerTools));
    return Answer(
        200, ResultText(message["id"], {{"content", Json::array({{{"type", "text"}, {"text", header("mcp-name")}}})}}));
  });
  {
    const auto http = Connect(server.url());
    McpSession session(http->connection());
    const Result<McpTools> found = session.Open();
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ(session.Call("find", Json::object()).value().text, "find");
    EXPECT_EQ(session.Call("fünd", Json::object()).value().text, "=?base64?ZsO8bmQ=?=");
  }
  EXPECT_EQ(server.request_count(), 4U);  // nothing to end
}

struct Failure {
  const char* name;
  std::function<Script(const Json& message)> answer;
  ErrorKind kind;
  const char* message;
};

class McpHttpFailure : public McpHttpTest, public testing::WithParamInterface<Failure> {};

TEST_P(McpHttpFailure, IsToldApart) {
  const loopback::Server server([](const Request& request) { return SessionServer(request, GetParam().answer); });
  const auto http = Connect(server.url());
  McpSession session(http->connection());
  ASSERT_TRUE(session.Open().ok());
  http->Begin(steady_clock::now() + seconds(std::string_view(GetParam().name) == "Silence" ? 1 : 20), nullptr, 1);
  const Result<McpResult> said = session.Call("find", Json::object());
  ASSERT_FALSE(said.ok()) << said->text;
  EXPECT_EQ(said.error().kind, GetParam().kind);
  EXPECT_THAT(said.error().message, AllOf(HasSubstr(GetParam().message), Not(HasSubstr("of-the-tests-1"))));
}

constexpr const char* kWebPage =
    "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 6\r\n\r\n<html>";
const std::string kPadding(17U << 20U, ' ');

INSTANTIATE_TEST_SUITE_P(
    Answers, McpHttpFailure,
    testing::Values(
        Failure{"EndedSession", [](const Json&) { return Answer(404, ""); }, ErrorKind::kUnavailable,
                "ended the session"},
        Failure{"Overload", [](const Json&) { return Answer(503, ""); }, ErrorKind::kUnavailable, "503"},
        Failure{"NoKey", [](const Json& message) { return Answer(401, ErrorText(message["id"], -32001, "who?")); },
                ErrorKind::kPermanent, "401"},
        Failure{"Redirect", [](const Json&) { return loopback::Redirect("http://127.0.0.1:1/other"); },
                ErrorKind::kPermanent, "redirect"},
        Failure{"WebPage", [](const Json&) { return Script{loopback::Send(kWebPage)}; }, ErrorKind::kInput,
                "text/html"},
        Failure{"NotJson", [](const Json&) { return Answer(200, "<html>"); }, ErrorKind::kUnavailable,
                "no answer; what it wrote can't be read"},
        Failure{"OtherId", [](const Json&) { return Answer(200, ResultText(Json("x"), Json::object())); },
                ErrorKind::kUnavailable, "no answer"},
        Failure{"NoAnswer", [](const Json&) { return Answer(202, ""); }, ErrorKind::kUnavailable, "no answer"},
        Failure{"EmptyStream", [](const Json&) { return loopback::Sse({": nothing\n\n"}); }, ErrorKind::kUnavailable,
                "no answer"},
        Failure{"TooLong", [](const Json&) { return Answer(200, kPadding); }, ErrorKind::kInput, "exceeds 16"},
        Failure{"CutOff", [](const Json&) { return loopback::CutInBody("{\"jsonrpc\": \"2.0\"}"); },
                ErrorKind::kUnavailable, ""},
        Failure{"Silence", [](const Json&) { return loopback::Silence(); }, ErrorKind::kUnavailable, "time limit"}),
    [](const auto& test) { return test.param.name; });

TEST_F(McpHttpTest, AnErrorOfTheToolIsAResult) {
  const loopback::Server server([](const Request& request) {
    return SessionServer(
        request, [](const Json& message) { return Answer(400, ErrorText(message["id"], -32602, "no such title")); });
  });
  const auto http = Connect(server.url());
  McpSession session(http->connection());
  ASSERT_TRUE(session.Open().ok());
  const Result<McpResult> said = session.Call("find", Json::object());
  ASSERT_TRUE(said.ok()) << said.error().message;
  EXPECT_TRUE(said->is_error);
  EXPECT_THAT(said->text, HasSubstr("no such title"));
}

TEST_F(McpHttpTest, NothingListens) {
  const Result<McpTools> found = ListMcpToolsAt({loopback::DeadUrl(), {}}, seconds(20), nullptr);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("MCP server http://127.0.0.1:"), HasSubstr("connection refused")));
}

TEST_F(McpHttpTest, TheUserStopsIt) {
  const loopback::Server server([](const Request&) { return loopback::Silence(); });
  const StopFlag stop = 1;
  const Result<McpTools> found = ListMcpToolsAt({server.url(), {}}, seconds(20), &stop);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kCancelled);
}

TEST(IsFreeMcpHeader, TellsTheProtocolsOwnApart) {
  for (const char* free : {"Authorization", "X-Api-Key", "X-MCP-Toolsets"}) EXPECT_TRUE(IsFreeMcpHeader(free)) << free;
  for (const char* taken : {"", "Host", "content-length", "Mcp-Session-Id", "MCP-Protocol-Version", "a b", "a:b", "ä"})
    EXPECT_FALSE(IsFreeMcpHeader(taken)) << taken;
}

}  // namespace
}  // namespace upskill
