// SPDX-License-Identifier: Apache-2.0
#include "agent/tool_server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "agent/loop_model.h"
#include "sandbox/sandbox.h"
#include "support/fake_model.h"

namespace upskill {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Counts its calls, reads a file, fails, ends.
constexpr const char* kServer = R"py(
import json, sys
calls = 0
for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params") or {}
    if "id" not in message:
        continue
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "t", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": name, "description": "does " + name, "inputSchema": {"type": "object", "properties": {
            "text": {"type": "string"}}}} for name in ("count", "show.file", "fail", "end", "lines", "bytes")]}
    elif method == "tools/call":
        calls += 1
        name = params["name"]
        if name == "end":
            sys.stderr.write("I give up\n")
            sys.exit(3)
        while name == "lines":
            sys.stdout.write('{"jsonrpc": "2.0", "method": "n"}\n')
        while name == "bytes":
            sys.stdout.write("x" * 65536)
        text = {"count": "call %d: %s" % (calls, params["arguments"].get("text")),
                "show.file": open("data.txt").read() if name == "show.file" else "", "fail": "no such unit"}[name]
        result = {"content": [{"type": "text", "text": text}, {"type": "image", "data": ""}], "isError": name == "fail"}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
)py";

class ToolServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const Status available = DefaultSandbox().Available(); !available.ok())
      GTEST_SKIP() << available.error().message;
    if (!DefaultSandbox().HasProgram("python3")) GTEST_SKIP() << "no python3 in the sandbox";
  }

  static Result<std::unique_ptr<RunningToolServer>> Start(const std::string& command = "python3 server.py") {
    ToolServer server;
    server.name = "units";
    server.command = command;
    server.files["server.py"] = kServer;
    return RunningToolServer::Start(server, {{"data.txt", "of the case"}}, {&DefaultSandbox(), nullptr},
                                    std::chrono::seconds(60), nullptr);
  }

  static ToolOutcome Call(RunningToolServer& server, const std::string& name) {
    Result<ToolOutcome> outcome = server.Call({"1", name, {{"text", "ä"}}, ""}, {}, nullptr);
    EXPECT_TRUE(outcome.ok());
    return outcome.ok() ? *std::move(outcome) : ToolOutcome{};
  }
};

TEST_F(ToolServerTest, KeepsItsStateFromCallToCall) {
  const Result<std::unique_ptr<RunningToolServer>> server = Start();
  ASSERT_TRUE(server.ok()) << server.error().message;
  ASSERT_EQ((*server)->tools().size(), 6U);
  EXPECT_EQ((*server)->tools()[1].name, "units_show_file");
  EXPECT_EQ((*server)->tools()[0].description, "does count");
  EXPECT_FALSE((*server)->Has("bash"));
  EXPECT_EQ(Call(**server, "units_count").text, "call 1: ä\n[image]");
  EXPECT_EQ(Call(**server, "units_count").text, "call 2: ä\n[image]");
  EXPECT_EQ(Call(**server, "units_show_file").text, "of the case\n[image]");
}

TEST_F(ToolServerTest, WhatGoesWrongIsToldToTheModel) {
  const Result<std::unique_ptr<RunningToolServer>> server = Start();
  ASSERT_TRUE(server.ok()) << server.error().message;
  const ToolOutcome failed = Call(**server, "units_fail");
  EXPECT_TRUE(failed.is_error);
  EXPECT_THAT(failed.text, HasSubstr("no such unit"));
  const ToolOutcome ended = Call(**server, "units_end");
  EXPECT_TRUE(ended.is_error);
  EXPECT_THAT(ended.text, AllOf(HasSubstr("exit code 3"), HasSubstr("I give up")));
  EXPECT_THAT(Call(**server, "units_count").text, HasSubstr("has ended"));
}

TEST_F(ToolServerTest, AFloodEndsWithTheCall) {
  for (const char* flood : {"units_lines", "units_bytes"}) {
    const Result<std::unique_ptr<RunningToolServer>> server = Start();
    ASSERT_TRUE(server.ok()) << server.error().message;
    ToolLimits limits;
    limits.time = std::chrono::milliseconds(3000);
    const Result<ToolOutcome> outcome = (*server)->Call({"1", flood, Json::object(), ""}, limits, nullptr);
    ASSERT_TRUE(outcome.ok());
    EXPECT_TRUE(outcome->is_error);
    EXPECT_THAT(outcome->text, testing::AnyOf(HasSubstr("within its time limit"), HasSubstr("its output exceeds")));
  }
}

TEST_F(ToolServerTest, AServerThatDoesNotStartIsAnError) {
  const Result<std::unique_ptr<RunningToolServer>> server = Start("echo nothing here >&2; exit 4");
  ASSERT_FALSE(server.ok());
  EXPECT_EQ(server.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(server.error().message,
              AllOf(HasSubstr("MCP server units"), HasSubstr("exit code 4"), HasSubstr("nothing here")));
}

TEST_F(ToolServerTest, TwoToolsOfOneNameAreAnError) {
  auto inner = std::make_unique<FakeModel>(
      "m", 1, [](const ChatRequest&, std::size_t) { return std::optional(Result<ChatResponse>(ChatResponse())); });
  inner->set_takes_tools();
  const std::unique_ptr<Model> model = MakeLoopModel(std::move(inner), {&DefaultSandbox(), nullptr, 1}).value();
  WorkspaceTask task;
  const ToolServer server{"units", "python3 server.py", {{"server.py", kServer}}, false, "", {}};
  task.servers = {server, server};
  ChatRequest request;
  request.messages.push_back({Role::kUser, "do it"});
  request.task = std::make_shared<WorkspaceTask>(std::move(task));
  const Result<ChatResponse> answer = Generate(*model, request);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().kind, ErrorKind::kPermanent);
  EXPECT_THAT(answer.error().message, AllOf(HasSubstr("MCP server units"), HasSubstr("units_count")));
}

}  // namespace
}  // namespace upskill
