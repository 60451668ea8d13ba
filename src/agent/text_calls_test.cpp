// SPDX-License-Identifier: Apache-2.0
#include "agent/text_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "util/json.h"

namespace upskill {
namespace {

std::vector<Tool> Tools() {
  std::vector<Tool> tools(2);
  tools[0].name = "write_file";
  tools[1].name = "bash";
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
      "\"1\n2\"}}\n```\n\n```json\n{\"name\": \"bash\", \"arguments\": {}}\n```\nDone.";
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
  for (const char* text : {"", "The file is written.", R"({"name": "ada", "arguments": {}})", R"({"name": "bash"})",
                           R"(Use {"name": "bash", "arguments": {}} for it.)",
                           "```json\n{\"name\": \"package\", \"version\": \"1\"}\n```", "{\"tool\": 3}"}) {
    std::string kept = text;
    EXPECT_TRUE(TakeCallsFromText(Tools(), kept).empty()) << text;
    EXPECT_EQ(kept, text);
  }
  std::string call = R"({"name": "bash", "arguments": {}})";
  EXPECT_TRUE(TakeCallsFromText({}, call).empty()) << "no tools are offered";
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
