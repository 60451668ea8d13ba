// SPDX-License-Identifier: Apache-2.0
#include "agent/text_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "util/json.h"
#include "util/known_secrets.h"
#include "util/secret.h"

namespace upskill {
namespace {

std::vector<Tool> Tools() {
  std::vector<Tool> tools(2);
  tools[0].name = "write_file";
  tools[0].schema = {{"properties", {{"path", Json::object()}, {"content", Json::object()}}}};
  tools[1].name = "bash";
  tools[1].schema = {{"properties", {{"command", Json::object()}}}};
  return tools;
}

std::vector<ToolCall> CallsIn(std::string text) { return TakeCallsFromText(Tools(), text); }

TEST(TextCalls, AreReadInTheFormsInWhichModelsWriteThem) {
  const std::string call = R"({"name": "bash", "arguments": {"command": "ls {a,b}"}})";
  for (const std::string& text : std::vector<std::string>{
           call,
           "{" + call + "}",
           R"({{"name": "bash", "arguments": {{"command": "ls {a,b}"}}}})",
           "I look first.\n```json\n" + call + "\n```\n",
           "<tool_call>\n" + call + "\n</tool_call>",
           "<tool_call>" + call + "</tool_call>",
           "<tools>\n" + call + "\n</tools>",
           "<|tool_call|>" + call,
           "[" + call + "]",
           R"({"type": "function", "function": {"name": "bash", "arguments": "{\"command\": \"ls {a,b}\"}"}})",
           R"({"tool": "bash", "parameters": {"command": "ls {a,b}"}})",
           "<function_call>\n" + call,
           R"({"tool_calls": [)" + call + "]}",
           R"({"tool": "bash", "command": "ls {a,b}"})",
           "You would look first, and so do I:\n" + call + "\n```\n<|im_end|>",
           call + "\n<tool_response>\na b\n</tool_response>\nThere are two files.",
       }) {
    const std::vector<ToolCall> calls = CallsIn(text);
    ASSERT_EQ(calls.size(), 1U) << text;
    EXPECT_EQ(calls[0].name, "bash") << text;
    EXPECT_EQ(StringAt(calls[0].arguments, "command"), "ls {a,b}") << text;
  }
}

TEST(TextCalls, KeepTheTextBeforeThem) {
  std::string text =
      "I write both.\n\n```json\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": "
      "\"1\n2\"}}\n```\n\n```json\n{\"name\": \"bash\", \"arguments\": {}}\n```\n";
  const std::vector<ToolCall> calls = TakeCallsFromText(Tools(), text);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(StringAt(calls[0].arguments, "content"), "1\n2") << "a raw line end in a string";
  EXPECT_EQ(calls[1].name, "bash");
  EXPECT_EQ(text, "I write both.");
}

TEST(TextCalls, OneThatIsntJsonHasNoArguments) {
  const std::vector<ToolCall> calls = CallsIn(R"({"name": "bash", "arguments": {"command": "ls}})");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].name, "bash");
  EXPECT_TRUE(calls[0].arguments.is_null());
}

TEST(TextCalls, ArentSeenWhereNothingIsCalled) {
  for (const char* text :
       {"", "The file is written.", R"({"name": "ada", "age": 36})", R"({"name": "ada", "input": {}})",
        R"({"name": "bash", "version": "5.2"})", R"(Use {"name": "bash", "arguments": {}} for it.)",
        "```json\n{\"name\": \"package\", \"version\": \"1\"}\n```", "{\"tool\": 3}"}) {
    std::string kept = text;
    EXPECT_TRUE(TakeCallsFromText(Tools(), kept).empty()) << text;
    EXPECT_EQ(kept, text);
    EXPECT_FALSE(LooksLikeCall(Tools(), text)) << text;
  }
  std::string call = R"({"name": "bash", "arguments": {}})";
  EXPECT_TRUE(TakeCallsFromText({}, call).empty()) << "no tools are offered";
}

// An answer that explains how a tool is called goes on after the call.
TEST(TextCalls, ThatAreFollowedByTextArentCarriedOut) {
  const std::string call = R"({"name": "bash", "arguments": {"command": "rm -r a"}})";
  for (const std::string& text : std::vector<std::string>{
           "To remove it, you would call\n" + call + "\nbut I left it.",
           "```json\n" + call + "\n```\nThis removes the folder.",
           "<tool_call>" + call + "</tool_call> removes it.",
           "First\n" + call + "\nthen\n\n```json\n" + call + "\n```\n\nDone.",
           "| call |\n" + call + "\n---\nend",
       }) {
    std::string kept = text;
    EXPECT_TRUE(TakeCallsFromText(Tools(), kept).empty()) << text;
    EXPECT_EQ(kept, text);
    EXPECT_TRUE(LooksLikeCall(Tools(), text)) << text;
  }
}

// Such texts only end the answer where they aren't part of a call.
TEST(TextCalls, MayWriteTagsOfInventedResults) {
  const std::vector<ToolCall> calls = CallsIn(R"({"name": "bash", "arguments": {"command": "echo '<observation>'"}}
<tool_response>ok</tool_response> {"name": "bash", "arguments": {"command": "rm"}})");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(StringAt(calls[0].arguments, "command"), "echo '<observation>'");
}

TEST(TextCalls, AreNotCarriedOutBeforeTextHoweverManyThereAre) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "{\"name\": \"bash\", \"arguments\": {\"command\": \"ls\"}}\n";
  EXPECT_FALSE(CallsIn(text).empty());
  EXPECT_TRUE(CallsIn(text + "These are only examples.").empty());
}

TEST(TextCalls, OfOtherToolsAreSeenSoThatTheModelIsTold) {
  const std::vector<ToolCall> calls = CallsIn("```json\n{\"name\": \"create_file\", \"arguments\": {\"n\": 7}}\n```");
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].name, "create_file");
}

TEST(TextCalls, InFormsThatArentReadLookLikeCalls) {
  for (const char* text :
       {"bash(\"ls\")", "  write_file({\"path\": \"a\"})", "<function=bash>\n<parameter=command>\nls\n</parameter>",
        "<bash>ls</bash>", "Thought: look\nAction: bash\nAction Input: ls", "[TOOL_CALLS] bash", "<tool_call>\nbash ls",
        "\"bash\": {\"command\": \"ls\"}\nbash {\"command\": \"ls\"}"}) {
    std::string kept = text;
    EXPECT_TRUE(TakeCallsFromText(Tools(), kept).empty()) << text;
    EXPECT_TRUE(LooksLikeCall(Tools(), text)) << text;
    EXPECT_FALSE(LooksLikeCall({}, text)) << text;
  }
  for (const char* text : {"I used `bash` (the shell) to list them.", "bash is a shell", "```bash\nls\n```",
                           "I ran bash(1) twice.", "The action: bash was used."})
    EXPECT_FALSE(LooksLikeCall(Tools(), text)) << text;
}

TEST(TextCalls, SecretsInThemAreMaskedWhereTheyWereEscaped) {
  RememberSecret(Secret("sk-of-text-calls-7"));
  for (const char* text : {R"({"name": "bash", "arguments": {"command": "echo s\u006b-of-text-calls-7"}})",
                           R"({"name": "bash", "arguments": "{\"command\": \"echo \\u0073k-of-text-calls-7\"}"})",
                           R"({"tool": "bash", "command": "echo sk-of-text-calls-\u0037"})"}) {
    const std::vector<ToolCall> calls = CallsIn(text);
    ASSERT_EQ(calls.size(), 1U) << text;
    EXPECT_EQ(StringAt(calls[0].arguments, "command"), "echo ***") << text;
    EXPECT_EQ(calls[0].raw_arguments, R"({"command":"echo ***"})") << text;
  }
}

TEST(TextCalls, ManyBracketsTakeLittleTime) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "{\"name\": \n";
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(CallsIn(text).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace upskill
