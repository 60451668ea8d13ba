// SPDX-License-Identifier: Apache-2.0
#include "agent/json_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "agent/tool_texts.h"
#include "util/json_schema.h"

namespace upskill {
namespace {

using ::testing::HasSubstr;

TEST(JsonTools, DescribesToolsAndForcesACall) {
  ChatRequest request;
  request.system = "work";
  request.tools = WorkspaceTools();
  request.messages.push_back({Role::kUser, "do it"});
  Message asked{Role::kAssistant, ""};
  asked.tool_calls.push_back({"1", "bash", {{"command", "ls"}}, R"({"command":"ls"})"});
  Message told{Role::kUser, ""};
  told.tool_results.push_back({"1", "a\nb\n", false});
  request.messages.push_back(asked);
  request.messages.push_back(told);
  const ChatRequest sent = WithToolsAsJson(request);
  EXPECT_TRUE(sent.tools.empty());
  EXPECT_THAT(sent.system, HasSubstr("- command (string): the command line"));
  EXPECT_EQ(sent.messages[1].text, R"({"tool":"bash","arguments":{"command":"ls"}})");
  EXPECT_EQ(sent.messages[2].text, "The result:\na\nb\n");
  ASSERT_TRUE(sent.answer_schema.has_value());
  EXPECT_TRUE(CheckJsonSchema(*sent.answer_schema, {{"answer", "done"}}).ok());
  EXPECT_TRUE(CheckJsonSchema(*sent.answer_schema, {{"tool", "grep"}, {"arguments", {{"pattern", "x"}}}}).ok());
  EXPECT_FALSE(CheckJsonSchema(*sent.answer_schema, {{"tool", "rm"}, {"arguments", Json::object()}}).ok());
}

TEST(JsonTools, AnAnswerIsACallOrAText) {
  const auto read = [](const std::string& text) {
    ChatResponse response;
    response.text = text;
    return WithCallFromJson(response);
  };
  const ChatResponse call = read(R"({"tool": "bash", "arguments": {"command": "ls"}})");
  ASSERT_EQ(call.tool_calls.size(), 1U);
  EXPECT_EQ(call.tool_calls[0].name, "bash");
  EXPECT_EQ(call.tool_calls[0].arguments.at("command"), "ls");
  EXPECT_EQ(call.stop, StopReason::kToolUse);
  EXPECT_EQ(read(R"({"answer": "done"})").text, "done");
  for (const std::string text : {R"({"tool": "bash", "argum)", "words", "[1]", R"({"other": 1})"}) {
    EXPECT_TRUE(read(text).tool_calls.empty());
    EXPECT_EQ(read(text).text, text);
  }
}

}  // namespace
}  // namespace upskill
