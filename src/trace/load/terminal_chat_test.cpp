// SPDX-License-Identifier: Apache-2.0
// Chats in which the model types into a terminal.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/trace_expectation.h"
#include "trace/digest/digest.h"
#include "trace/load/read_trace.h"
#include "util/json.h"

namespace upskill {
namespace {

Json ChatMessage(const std::string& role, const std::string& text) { return {{"role", role}, {"content", text}}; }

Json TypedKeys(const std::vector<std::string>& keystrokes) {
  Json commands = Json::array();
  for (const std::string& keys : keystrokes) commands.push_back(Json::object({{"keystrokes", keys}, {"duration", 1}}));
  return ChatMessage(
      "assistant",
      DumpJson(Json::object({{"analysis", "Nothing is built."}, {"plan", "Build it."}, {"commands", commands}})));
}

Trace ReadChat(const Json& document) {
  Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.json"), {});
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(*trace) : Trace{};
}

std::vector<std::string> TypedCommands(const Trace& trace) {
  std::vector<std::string> commands;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kToolCall && !event.command.empty()) commands.push_back(event.command);
  }
  return commands;
}

TEST(TerminalChat, KeystrokesAreCommandsAndScreensTheirResults) {
  const Json messages = {
      ChatMessage("user", "Build the parser.\n\nCurrent terminal state:\nroot@1:/app#"),
      TypedKeys({"cd /app\n", "make\n", "C-c", ""}),
      ChatMessage("user", "New Terminal Output:\nroot@1:/app# make\nmake: *** No rule. Stop."),
      ChatMessage("assistant", "Use cmake.\n```json\n{\"commands\": [{\"keystrokes\": \"cmake .\\n\"}]}\n```"),
      ChatMessage("user", "Previous response had warnings:\nWARNINGS: none\n\nNew Terminal Output:\nok")};
  for (const Json& document : {messages, Json::object({{"messages", messages}})}) {
    const Trace trace = ReadChat(document);
    EXPECT_EQ(TypedCommands(trace), (std::vector<std::string>{"cd /app", "make", "cmake ."}));
    const TraceCounts counts = CountTrace(trace);
    EXPECT_EQ(counts.human_turns, 1U);
    EXPECT_EQ(counts.assistant_messages, 2U);
    EXPECT_EQ(counts.tool_calls, 4U);
    EXPECT_EQ(trace.events.at(FindText(trace, "Build the parser.")).text, "Build the parser.");
    EXPECT_EQ(trace.events.at(FindText(trace, "No rule")).kind, EventKind::kToolResult);
    const std::size_t built = FindText(trace, "New Terminal Output:\nok");
    ASSERT_NE(built, kNoIndex);
    EXPECT_EQ(trace.events.at(trace.events.at(built).partner).command, "cmake .");
  }
}

TEST(TerminalChat, NoticesOfTheProgramAreNotTheUsers) {
  const Trace trace =
      ReadChat({ChatMessage("user", "Build it"), TypedKeys({"make\n"}),
                ChatMessage("user",
                            "Previous command:\nmake\n\nThe previous command timed out.\n\n"
                            "Here is the current state of the terminal:\n\n$ make"),
                ChatMessage("assistant", "Hm."), ChatMessage("user", "Previous response had parsing errors:\nno JSON"),
                ChatMessage("user", "Current terminal state:\n$\n\nAre you sure?"), ChatMessage("user", "Stop here")});
  EXPECT_EQ(CountTrace(trace).human_turns, 2U);
}

TEST(TerminalChat, HereDocumentsWriteFiles) {
  const Trace trace =
      ReadChat({ChatMessage("user", "Write it"), TypedKeys({"cat > a.py <<'EOF'\nx = 1\nEOF\n", "python3 a.py\n"}),
                ChatMessage("user", "New Terminal Output:\n1")});
  std::vector<std::string> changed;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kFileChange) changed.push_back(event.path);
  }
  EXPECT_EQ(changed, std::vector<std::string>{"a.py"});
  EXPECT_NE(MakeDigest({trace}, {}).text.find("x = 1"), std::string::npos);
}

TEST(TerminalChat, OtherChatsStayAsTheyAre) {
  const Trace trace = ReadChat({ChatMessage("user", "What is in \"keystrokes\"?"),
                                ChatMessage("assistant", "An object has {\"keystrokes\"} in it."),
                                ChatMessage("user", "Previous response had an error.")});
  EXPECT_EQ(CountTrace(trace).human_turns, 2U);
  EXPECT_EQ(CountTrace(trace).tool_calls, 0U);
}

}  // namespace
}  // namespace upskill
