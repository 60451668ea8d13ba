// SPDX-License-Identifier: Apache-2.0
#include "mcp/mcp_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mcp/mcp_dialogue.h"
#include "support/work_meter.h"
#include "util/child_environment.h"
#include "util/files.h"
#include "util/known_secrets.h"
#include "util/temp_folder.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr milliseconds kLimit{20'000};

// A server as a shell script: `answers` holds a case of the shell for each method.
class Server {
 public:
  explicit Server(const std::string& answers) {
    const auto script = folder_.Write("server.sh",
                                      "while read -r line; do\n"
                                      "id=$(printf '%s' \"$line\" | sed -n 's/.*\"id\":\\([0-9]*\\).*/\\1/p')\n"
                                      "case \"$line\" in\n" +
                                          answers + "\nesac\ndone\n");
    command = "sh " + script.string();
  }
  std::string command;

 private:
  TempFolder folder_;
};

const std::string kHello =
    R"(*'"initialize"'*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},\"serverInfo\":{\"name\":\"books\",\"version\":\"1.2\"}}}";;
)";

TEST(ListMcpTools, AllPages) {
  const Server server(kHello + R"(
    *notifications/initialized*) ready=yes;;
    *page-2*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"lend\"}]}}";;
    *tools/list*) [ "$ready" ] && echo "a line that is no message
{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}
{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}"
      read -r refused; case "$refused" in *-32601*) ;; *) exit 9;; esac
      echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"find\",\"inputSchema\":{\"type\":\"object\"}}],\"nextCursor\":\"page-2\"}}";;)");
  const Result<McpTools> found = ListMcpTools(server.command, ChildEnvironment(), kLimit, nullptr);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->server, "books 1.2");
  ASSERT_EQ(found->tools.size(), 2U);
  EXPECT_EQ(found->tools[0]["name"], "find");
  EXPECT_EQ(found->tools[0]["inputSchema"]["type"], "object");
  EXPECT_EQ(found->tools[1]["name"], "lend");
}

TEST(ListMcpTools, AServerWithoutHandshake) {
  const Server server(R"(
    *initialize*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"error\":{\"code\":-32601,\"message\":\"Method not found\"}}";;
    *tools/list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[{\"name\":\"find\"}]}}";;)");
  const Result<McpTools> found = ListMcpTools(server.command, ChildEnvironment(), kLimit, nullptr);
  ASSERT_TRUE(found.ok()) << found.error().message;
  EXPECT_EQ(found->tools.size(), 1U);
}

TEST(ListMcpTools, CommandsThatAreNotServers) {
  const auto error = [](const std::string& command, milliseconds limit = kLimit) {
    const Result<McpTools> found = ListMcpTools(command, ChildEnvironment(), limit, nullptr);
    EXPECT_FALSE(found.ok()) << command;
    return found ? "" : found.error().message;
  };
  EXPECT_THAT(error("/none/there"), AllOf(HasSubstr("MCP server `/none/there`: it ended with exit code 127"),
                                          HasSubstr("its standard error: ")));
  EXPECT_THAT(error("echo hello; echo 'no \033[31mkey' >&2; exit 3"),
              AllOf(HasSubstr("exit code 3"), HasSubstr("its standard error: no \033[31mkey")));
  EXPECT_THAT(error("sleep 60", milliseconds(250)), HasSubstr("MCP server `sleep 60`: no response within 0.25 s"));
  EXPECT_THAT(error("yes " + std::string(5000, 'x')), HasSubstr("output exceeds 16"));
  EXPECT_THAT(error("tr -d '\\n' < /dev/zero"), HasSubstr("output exceeds 16"));
}

// It writes all the time, answers nothing and ignores SIGTERM.
TEST(ListMcpTools, AServerThatOnlyTalksIsEnded) {
  const TempFolder folder;
  const auto pid_file = folder.path() / "pid";
  const std::string command =
      "trap '' TERM; echo $$ > " + pid_file.string() +
      R"(; while :; do echo '{"jsonrpc":"2.0","method":"notifications/message"}'; sleep 0.02; done)";
  const Result<McpTools> found = ListMcpTools(command, ChildEnvironment(), milliseconds(400), nullptr);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(found.error().message,
              AllOf(HasSubstr("it wrote "), HasSubstr(", but had not listed its tools after 0.4 s")));
  const Result<std::string> pid = ReadFile(pid_file);
  ASSERT_TRUE(pid.ok());
  EXPECT_NE(::kill(std::stoi(*pid), 0), 0) << "it still runs";
}

// The rejections of its requests fill the pipe to it.
TEST(ListMcpTools, AServerThatAsksAndNeverReadsIsEnded) {
  const std::string ask = R"(yes '{"jsonrpc":"2.0","id":1,"method":"roots/list"}' | head -n 6000; exec sleep 60)";
  const Result<McpTools> found = ListMcpTools(ask, ChildEnvironment(), milliseconds(600), nullptr);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kUnavailable);
  EXPECT_THAT(found.error().message, HasSubstr(", but had not listed its tools after 0.6 s"));
  const Result<McpTools> endless =
      ListMcpTools("yes '{\"id\":1,\"method\":\"ping\"}'", ChildEnvironment(), kLimit, nullptr);
  ASSERT_FALSE(endless.ok());
  EXPECT_THAT(endless.error().message, HasSubstr("output exceeds 16"));
}

// Each page has another cursor.
TEST(ListMcpTools, EndlessPagesEnd) {
  const Server server(
      kHello +
      R"(*tools/list*) echo "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"tools\":[],\"nextCursor\":\"p$id\"}}";;)");
  const Result<McpTools> found = ListMcpTools(server.command, ChildEnvironment(), milliseconds(500), nullptr);
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("had not listed its tools after 0.5 s"));
}

// Escaped as the server likes, and longer than what is shown: neither keeps a part of the key.
TEST(RequestMcpTools, KeysInTextsAreMasked) {
  RememberSecret(Secret("Pa&ss<word>9f8e7d6c5b"));
  std::string rest = R"({"id":1,"error":{"message":")" + std::string(390, 'x') +
                     R"( Pa\u0026ss\u003cword\u003e9f8e7d6c5b"}})"
                     "\n";
  const Result<McpTools> found = RequestMcpTools({[](std::string_view) { return Status(); },
                                                  [&]() -> Result<std::string> {
                                                    if (rest.empty()) return InputError("the end");
                                                    return std::exchange(rest, {});
                                                  }});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, AllOf(HasSubstr("xxx ***"), Not(HasSubstr("Pa&"))));
}

TEST(RequestMcpTools, WhatItAsksForIsBounded) {
  int asked = 0;
  const Result<McpTools> found = RequestMcpTools({[](std::string_view) { return Status(); },
                                                  [&]() -> Result<std::string> {
                                                    ++asked;
                                                    return std::string("{\"id\":7,\"method\":\"roots/list\"}\n");
                                                  }});
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("asked for more than 1000 things"));
  EXPECT_LT(asked, 1'100);
}

TEST(ListMcpTools, ServersThatBreakTheProtocol) {
  const auto error = [](const std::string& answers) {
    const Server server(answers);
    const Result<McpTools> found = ListMcpTools(server.command, ChildEnvironment(), kLimit, nullptr);
    EXPECT_FALSE(found.ok()) << answers;
    return found ? "" : found.error().message;
  };
  const auto lists = [](const std::string& answer) {
    return kHello + "*tools/list*) echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id," + answer + "}\";;";
  };
  EXPECT_THAT(error(R"(*) echo "{\"id\":$id,\"error\":{\"code\":-32602,\"message\":\"bad version\"}}";;)"),
              HasSubstr("initialize: error -32602: bad version"));
  EXPECT_THAT(error(lists(R"(\"error\":\"not today\")")), HasSubstr("tools/list: error 0: \"not today\""));
  EXPECT_THAT(error(lists(R"(\"result\":[])")), HasSubstr("has no `tools` array"));
  EXPECT_THAT(error(lists(R"(\"result\":{\"tools\":{}})")), HasSubstr("has no `tools` array"));
  EXPECT_THAT(error(lists(R"(\"result\":{\"tools\":[],\"nextCursor\":\"a\"})")), HasSubstr("same page"));
}

TEST(RequestMcpTools, MessagesAreShortAndIdsExact) {
  const auto error = [](const std::string& output) {
    std::string rest = output;
    const Result<McpTools> found = RequestMcpTools({[](std::string_view) { return Status(); },
                                                    [&]() -> Result<std::string> {
                                                      if (rest.empty()) return InputError("the end");
                                                      return std::exchange(rest, {});
                                                    }});
    return found ? "" : found.error().message;
  };
  const std::string long_message = error(R"({"id":1,"error":{"message":")" + std::string(100'000, 'x') + "\"}}\n");
  EXPECT_THAT(long_message, HasSubstr("initialize: error 0: xxx"));
  EXPECT_LT(long_message.size(), 1000U);
  EXPECT_EQ(error(R"({"id":4294967297,"result":{}})"
                  "\n"),
            "the end");
  EXPECT_EQ(error("{\"id\":1.5,\"result\":{}}\n"), "the end");
  EXPECT_THAT(error(std::string(100'000, '[') + "\n"),
              AllOf(HasSubstr("the end; what it wrote can't be read: "), HasSubstr("nested")));
}

TEST(ListMcpTools, TheServerGetsOnlyItsEnvironment) {
  ::setenv("OPENAI_API_KEY", "sk-not-for-servers", 1);  // NOLINT(concurrency-mt-unsafe): no other thread
  const std::string command = "echo \"key: $OPENAI_API_KEY, home: $HOME, mine: $MINE\" >&2; exit 1";
  const Result<McpTools> found =
      ListMcpTools(command, WithVariable({"HOME=/h", "PATH=/usr/bin:/bin"}, "MINE", "m"), kLimit, nullptr);
  const Result<McpTools> usual = ListMcpTools(command, ChildEnvironment(), kLimit, nullptr);
  ::unsetenv("OPENAI_API_KEY");  // NOLINT(concurrency-mt-unsafe)
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr("its standard error: key: , home: /h, mine: m"));
  EXPECT_THAT(usual.error().message, HasSubstr("its standard error: key: , home: "));
}

TEST(ListMcpTools, WorkGrowsInStepWithTheTools) {
  const TempFolder folder;
  const auto growth = [&](const std::function<std::string(std::size_t)>& tools_of) {
    return GrowthPerDoubling(1000, [&](std::size_t count) {
      const auto file = folder.Write("tools-" + std::to_string(count), tools_of(count));
      const auto server = std::make_shared<Server>(
          kHello + "*tools/list*) printf '{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[' $id; cat " +
          file.string() + "; echo ']}}';;");
      return [server] {
        const Result<McpTools> found = ListMcpTools(server->command, ChildEnvironment(), kLimit, nullptr);
        ASSERT_TRUE(found.ok()) << found.error().message;
      };
    });
  };
  EXPECT_LT(growth([](std::size_t count) {
              std::string tools = R"({"name":"t"})";
              for (std::size_t i = 1; i < count; ++i) tools += R"(,{"name":"t)" + std::to_string(i) + "\"}";
              return tools;
            }),
            kMaxGrowthPerDoubling);
  EXPECT_LT(growth([](std::size_t count) {
              std::string keys;
              for (std::size_t i = 0; i < count; ++i) keys += ",\"key " + std::to_string(i) + "\":1";
              return R"({"name":"t")" + keys + "}";
            }),
            kMaxGrowthPerDoubling);
}

TEST(ListMcpTools, StopsWhenAsked) {
  const std::atomic<int> stop = 1;
  const Result<McpTools> found = ListMcpTools("sleep 60", ChildEnvironment(), kLimit, &stop);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().kind, ErrorKind::kCancelled);
}

// A session whose server answers with these lines, in turn, and is then silent.
McpSession SessionWith(std::vector<std::string> lines) {
  auto left = std::make_shared<std::vector<std::string>>(std::move(lines));
  return McpSession({[](std::string_view /*bytes*/) { return Status(); },
                     [left]() -> Result<std::string> {
                       if (left->empty()) return Error{ErrorKind::kUnavailable, "waited for more"};
                       std::string line = left->front() + "\n";
                       left->erase(left->begin());
                       return line;
                     }});
}

TEST(McpSession, AnAnswerThatIsNotUtf8EndsTheCallAndNotTheSession) {
  const std::string result = R"("result":{"content":[{"type":"text","text":")";
  McpSession session = SessionWith({"\xFF a line of a log", R"({"jsonrpc":"2.0","id":1,)" + result + "\xFF\"}]}}",
                                    R"({"jsonrpc":"2.0","method":"n","params":{"a":")"
                                    "\xFF\"}}",
                                    R"({"jsonrpc":"2.0","id":2,)" + result + "fine\"}]}}"});
  const Result<McpResult> broken = session.Call("t", Json::object());
  ASSERT_FALSE(broken.ok());
  EXPECT_EQ(broken.error().kind, ErrorKind::kUnavailable) << "which leaves the server in use";
  EXPECT_EQ(broken.error().message, "its answer to tools/call is not valid UTF-8");
  const Result<McpResult> next = session.Call("t", Json::object());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(next->text, "fine");
}

}  // namespace
}  // namespace upskill
