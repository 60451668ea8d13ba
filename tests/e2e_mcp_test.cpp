// SPDX-License-Identifier: Apache-2.0
// Students with MCP servers, with the real binary: in the sandbox and at URLs.
#include <gmock/gmock.h>

#include <atomic>
#include <string>

#include "sandbox/sandbox.h"
#include "support/loopback_server.h"
#include "support/subprocess.h"
#include "support/workspace_fixture.h"
#include "util/json.h"

namespace upskill {
namespace {

using loopback::Request;
using loopback::Script;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A server that adds numbers up, counts its calls, and fails without numbers.
constexpr const char* kSumServer = R"py(
import json, sys
calls = 0
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if "id" not in message:
        continue
    result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "sums", "version": "1"}}
    if method == "tools/list":
        result = {"tools": [{"name": "add", "description": "Adds up.", "inputSchema": {
            "type": "object", "properties": {"numbers": {"type": "array", "items": {"type": "integer"}}}}}]}
    elif method == "tools/call":
        calls += 1
        numbers = message["params"]["arguments"].get("numbers")
        text = "no numbers" if numbers is None else "call %d: %d" % (calls, sum(numbers))
        result = {"content": [{"type": "text", "text": text}], "isError": numbers is None}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
)py";

TEST_F(Workspace, HasTheToolsOfMcpServers) {
  if (!DefaultSandbox().HasProgram("python3")) GTEST_SKIP() << "no python3 in the sandbox";
  Json suite = {
      {"mcp", Json::array({{{"name", "sums"}, {"command", "python3 sums.py"}, {"files", {{"sums.py", kSumServer}}}}})},
      {"cases", Json::array()}};
  for (const char* id : {"one", "two"}) {
    suite["cases"].push_back({{"id", id},
                              {"input", std::string("Add up ") + id},
                              {"mode", "workspace"},
                              {"checks", Json::array({{{"type", "contains"}, {"text", "call 2: 6"}}})}});
  }
  folder_.Write("s/tests.json", DumpJson(suite));
  const loopback::Server server([](const Request& request) {
    std::string last;
    if (const std::size_t at = request.body.rfind("call 2: "); at != std::string::npos)
      last = request.body.substr(at, 9);
    return AnswerInItsFormat(
        request,
        [&](bool, std::size_t turn) {
          if (turn == 0) return ScriptedTurn{{{"sums_add", Json::object()}}, ""};
          if (turn == 1) return ScriptedTurn{{{"sums_add", {{"numbers", {1, 2, 3}}}}}, ""};
          return ScriptedTurn{{}, last};
        },
        1);
  });
  const std::string eval = "eval s -m generic.m --no-baseline --base-url " + server.url() + "/v1";
  const ProcessOutcome outcome = Shell("", eval);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
  // One server for each case: the second call of each is its own.
  EXPECT_THAT(outcome.out, HasSubstr("2/2"));
  EXPECT_THAT(server.requests().front().body, HasSubstr("sums_add"));
  EXPECT_EQ(Samples().at("skill").response.work->tool_errors, 1);
  suite["mcp"][0]["command"] = "echo none >&2; exit 5";
  folder_.Write("s/tests.json", DumpJson(suite));
  const ProcessOutcome failed = Shell("", eval);
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_THAT(failed.error, HasSubstr("MCP server sums: it ended with exit code 5: none"));
  suite["mcp"][0].erase("command");
  folder_.Write("s/tests.json", DumpJson(suite));
  EXPECT_THAT(Shell("", eval).error, HasSubstr("\"command\" must be a command line"));
}

// An MCP server at a URL, as far as the tool loop needs one. `fails`: calls are answered with this status.
Script McpAnswer(const Request& request, int fails) {
  if (request.method == "DELETE") return loopback::Answer(200, "");
  const Json message = ParseJson(request.body, "the request").value();
  const std::string method = StringAt(message, "method");
  if (!message.contains("id")) return loopback::Answer(202, "");
  Json result = {{"protocolVersion", "2025-06-18"}, {"serverInfo", {{"name", "sums"}, {"version", "1"}}}};
  if (method == "tools/list")
    result = {{"tools", Json::array({{{"name", "add"},
                                      {"inputSchema", {{"type", "object"}, {"properties", Json::object()}}}}})}};
  if (method == "tools/call") {
    if (fails != 0) return loopback::Answer(fails, "");
    result = {{"content", Json::array({{{"type", "text"}, {"text", "the sum is 6"}}})}};
  }
  const std::string answer = DumpJson({{"jsonrpc", "2.0"}, {"id", message["id"]}, {"result", result}});
  if (method == "initialize") return loopback::Answer(200, answer, {{"Mcp-Session-Id", "s"}});
  return loopback::Sse({"data: " + answer + "\n\n"});
}

TEST_F(Workspace, HasTheToolsOfMcpServersAtUrls) {
  std::atomic<int> fails = 0;
  const loopback::Server mcp([&](const Request& request) { return McpAnswer(request, fails); });
  const std::string url = mcp.url() + "/mcp";
  Json suite = {{"mcp", Json::array({{{"name", "sums"},
                                      {"url", url},
                                      {"headers", {{"Authorization", "Bearer ${SUMS_TOKEN}"}, {"X-Mode", "fast"}}}}})},
                {"cases", Json::array({{{"id", "one"},
                                        {"input", "Add up"},
                                        {"mode", "workspace"},
                                        {"checks", Json::array({{{"type", "contains"}, {"text", "6"}}})}}})}};
  folder_.Write("s/tests.json", DumpJson(suite));
  const loopback::Server server([](const Request& request) {
    const bool told = request.body.find("the sum is 6") != std::string::npos;
    return AnswerInItsFormat(
        request,
        [&](bool, std::size_t turn) {
          if (turn == 0) return ScriptedTurn{{{"sums_add", Json::object()}}, ""};
          return ScriptedTurn{{}, told ? "6" : "unknown"};
        },
        1);
  });
  const std::string token = "SUMS_TOKEN=a-token-of-the-tests";
  const std::string eval = "eval s -m generic.m --no-baseline --base-url " + server.url() + "/v1";
  const std::string allowed = eval + " --mcp-url " + url + " --mcp-env SUMS_TOKEN";
  // Nobody is asked anything that the user hasn't allowed.
  const ProcessOutcome unasked = Shell(token, eval);
  EXPECT_EQ(unasked.exit_code, 2);
  EXPECT_THAT(unasked.error, AllOf(HasSubstr("MCP server sums"), HasSubstr("add --mcp-url " + url)));
  const ProcessOutcome without_variable = Shell(token, eval + " --mcp-url " + url);
  EXPECT_EQ(without_variable.exit_code, 2);
  EXPECT_THAT(without_variable.error, HasSubstr("give --mcp-env SUMS_TOKEN"));
  const ProcessOutcome unset = Shell("", allowed);
  EXPECT_EQ(unset.exit_code, 2);
  EXPECT_THAT(unset.error, HasSubstr("SUMS_TOKEN is not set"));
  EXPECT_EQ(mcp.request_count() + server.request_count(), 0U);

  const ProcessOutcome outcome = Shell(token, allowed);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.error;
  EXPECT_THAT(outcome.out, HasSubstr("1/1"));
  for (const Request& request : mcp.requests()) {
    EXPECT_EQ(request.headers.at("authorization"), "Bearer a-token-of-the-tests");
    EXPECT_EQ(request.headers.at("x-mode"), "fast");
  }
  EXPECT_EQ(mcp.requests().back().method, "DELETE");
  EXPECT_THAT(server.requests().front().body, HasSubstr("sums_add"));
  EXPECT_EQ(RunShell("grep -r a-token-of-the-tests runs", folder_.path()).exit_code, 1);

  // A server that fails says nothing of the student.
  fails = 403;
  const ProcessOutcome failed = Shell(token, allowed + " --no-cache");
  EXPECT_EQ(failed.exit_code, 3) << failed.out;
  EXPECT_THAT(failed.error, AllOf(HasSubstr("MCP server sums"), HasSubstr("403")));

  suite["mcp"][0]["headers"]["Authorization"] = "Bearer literal";
  folder_.Write("s/tests.json", DumpJson(suite));
  EXPECT_THAT(Shell(token, allowed).error, HasSubstr("name the environment variable that has it"));
}

}  // namespace
}  // namespace upskill
