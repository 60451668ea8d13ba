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

Json Message(const std::string& role, const std::string& text) { return {{"role", role}, {"content", text}}; }

Json Typed(const std::vector<std::string>& keystrokes) {
  Json commands = Json::array();
  for (const std::string& keys : keystrokes) commands.push_back(Json::object({{"keystrokes", keys}, {"duration", 1}}));
  return Message(
      "assistant",
      DumpJson(Json::object({{"analysis", "Nothing is built."}, {"plan", "Build it."}, {"commands", commands}})));
}

Trace Read(const Json& document) {
  Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.json"), {});
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(*trace) : Trace{};
}

std::vector<std::string> CommandsOf(const Trace& trace) {
  std::vector<std::string> commands;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kToolCall && !event.command.empty()) commands.push_back(event.command);
  }
  return commands;
}

TEST(TerminalChat, KeystrokesAreCommandsAndScreensTheirResults) {
  const Json messages = {
      Message("user", "Build the parser.\n\nCurrent terminal state:\nroot@1:/app#"),
      Typed({"cd /app\n", "make\n", "C-c", ""}),
      Message("user", "New Terminal Output:\nroot@1:/app# make\nmake: *** No rule. Stop."),
      Message("assistant", "Use cmake.\n```json\n{\"commands\": [{\"keystrokes\": \"cmake .\\n\"}]}\n```"),
      Message("user", "Previous response had warnings:\nWARNINGS: none\n\nNew Terminal Output:\nok")};
  for (const Json& document : {messages, Json::object({{"messages", messages}})}) {
    const Trace trace = Read(document);
    EXPECT_EQ(CommandsOf(trace), (std::vector<std::string>{"cd /app", "make", "cmake ."}));
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
      Read({Message("user", "Build it"), Typed({"make\n"}),
            Message("user",
                    "Previous command:\nmake\n\nThe previous command timed out.\n\n"
                    "Here is the current state of the terminal:\n\n$ make"),
            Message("assistant", "Hm."), Message("user", "Previous response had parsing errors:\nno JSON"),
            Message("user", "Current terminal state:\n$\n\nAre you sure?"), Message("user", "Stop here")});
  EXPECT_EQ(CountTrace(trace).human_turns, 2U);
}

TEST(TerminalChat, HereDocumentsWriteFiles) {
  const Trace trace = Read({Message("user", "Write it"), Typed({"cat > a.py <<'EOF'\nx = 1\nEOF\n", "python3 a.py\n"}),
                            Message("user", "New Terminal Output:\n1")});
  std::vector<std::string> changed;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kFileChange) changed.push_back(event.path);
  }
  EXPECT_EQ(changed, std::vector<std::string>{"a.py"});
  EXPECT_NE(MakeDigest({trace}, {}).text.find("x = 1"), std::string::npos);
}

TEST(TerminalChat, OtherChatsStayAsTheyAre) {
  const Trace trace = Read({Message("user", "What is in \"keystrokes\"?"),
                            Message("assistant", "An object has {\"keystrokes\"} in it."),
                            Message("user", "Previous response had an error.")});
  EXPECT_EQ(CountTrace(trace).human_turns, 2U);
  EXPECT_EQ(CountTrace(trace).tool_calls, 0U);
}

}  // namespace
}  // namespace upskill
