// SPDX-License-Identifier: Apache-2.0
// What scripts of Codex ("code mode") called, and turns that were rolled back.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "trace/digest/digest.h"
#include "trace/load/read_trace.h"
#include "trace/trace.h"
#include "util/json.h"

namespace upskill {
namespace {

using RolloutRecords = std::vector<std::pair<std::string, Json>>;  // type and payload

Trace ReadRollout(const RolloutRecords& records) {
  std::string text =
      R"({"timestamp":"2026-08-20T09:00:00.000Z","type":"session_meta","payload":{"id":"1","cwd":"/p"}})";
  for (const auto& [type, payload] : records) {
    text += "\n" + DumpJson({{"timestamp", "2026-08-20T09:00:01.000Z"}, {"type", type}, {"payload", payload}});
  }
  Result<Trace> trace = ReadTrace(LineSource::FromText(text + "\n", "rollout-1.jsonl"), {});
  EXPECT_TRUE(trace.ok());
  return trace.ok() ? std::move(*trace) : Trace{};
}

RolloutRecords::value_type UserSaid(const std::string& words) {
  return {"response_item",
          {{"type", "message"}, {"role", "user"}, {"content", {{{"type", "input_text"}, {"text", words}}}}}};
}

RolloutRecords::value_type ScriptCall(const std::string& id, const std::string& source) {
  return {"response_item", {{"type", "custom_tool_call"}, {"call_id", id}, {"name", "exec"}, {"input", source}}};
}

RolloutRecords::value_type ScriptOutput(const std::string& id, const std::string& text) {
  return {"response_item", {{"type", "custom_tool_call_output"}, {"call_id", id}, {"output", text}}};
}

RolloutRecords::value_type CompletedItem(const Json& item) {
  return {"event_msg", {{"type", "item_completed"}, {"item", item}}};
}

Json RanCommand(const std::string& id, const std::string& command, int code, const std::string& output) {
  return {{"type", "CommandExecution"},
          {"id", id},
          {"command", {"/bin/bash", "-lc", command}},
          {"status", code == 0 ? "completed" : "failed"},
          {"aggregated_output", output},
          {"exit_code", code}};
}

std::map<std::string, CallStatus> CommandOutcomes(const Trace& trace) {
  std::map<std::string, CallStatus> commands;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kToolCall && !event.command.empty())
      commands[event.command] = event.partner == kNoIndex ? CallStatus::kUnknown : trace.events[event.partner].status;
  }
  return commands;
}

TEST(CodexScript, CommandsAreCallsWithOutcomes) {
  const Trace trace = ReadRollout(
      {UserSaid("fix it"), ScriptCall("c1", "await Promise.all([tools.exec_command({cmd: 'make'}), …])"),
       CompletedItem(RanCommand("e1", "make", 0, "built")), CompletedItem(RanCommand("e2", "pytest -q", 1, "1 failed")),
       ScriptOutput("c1", "Script completed\nWall time 1 seconds\nOutput:\n1 failed")});
  EXPECT_EQ(CommandOutcomes(trace),
            (std::map<std::string, CallStatus>{{"make", CallStatus::kOk}, {"pytest -q", CallStatus::kError}}));
  const TraceCounts counts = CountTrace(trace);
  EXPECT_EQ(counts.tool_errors, 1U);
  EXPECT_EQ(counts.tool_calls, 3U);
}

TEST(CodexScript, EventsOfAnOlderVersionAreCallsToo) {
  const Trace trace = ReadRollout({ScriptCall("c1", "tools.exec_command({cmd: 'make'})"),
                                   {"event_msg",
                                    {{"type", "exec_command_end"},
                                     {"call_id", "e1"},
                                     {"command", {"bash", "-lc", "make"}},
                                     {"exit_code", 2},
                                     {"stdout", "no rule"}}}});
  EXPECT_EQ(CommandOutcomes(trace), (std::map<std::string, CallStatus>{{"make", CallStatus::kError}}));
}

TEST(CodexScript, LiteralsOfAScriptThatIsAllThereIs) {
  const std::string script = R"js(const r = await tools.exec_command({workdir: "/p", "cmd": "echo \"a\"; make"});
text(JSON.stringify(r)); const later = command; tools.exec_command({cmd: later});
await tools.update_plan({plan: [{step: "a"}]});
await tools.apply_patch(`*** Begin Patch
*** Add File: a.py
+x = 1
*** End Patch`);)js";
  const std::string printed = R"(Script completed
Wall time 1 seconds
Output:
{"exit_code":2,"output":"no rule"})";
  const Trace trace = ReadRollout({ScriptCall("c1", script), ScriptOutput("c1", printed)});
  EXPECT_EQ(CommandOutcomes(trace), (std::map<std::string, CallStatus>{{"echo \"a\"; make", CallStatus::kError}}));
  EXPECT_NE(MakeDigest({trace}, {}).text.find("a.py"), std::string::npos);
  EXPECT_EQ(CountTrace(trace).tool_calls_by_name["update_plan"], 1U);
  const std::string both = "tools.exec_command({cmd: 'a\\'b'}); tools.exec_command({cmd: 'c'})";
  const auto outcomes = [&](const std::string& output) {
    return CommandOutcomes(ReadRollout({ScriptCall("c1", both), ScriptOutput("c1", output)}));
  };
  EXPECT_EQ(outcomes("Script completed\nexit_code: 0"),
            (std::map<std::string, CallStatus>{{"a'b", CallStatus::kUnknown}, {"c", CallStatus::kUnknown}}));
  EXPECT_EQ(outcomes("Script failed\nTypeError").size(), 1U) << "the second may not have been reached";
}

TEST(CodexScript, PatchesChangeFiles) {
  const Json changes = {{"/p/a.py", {{"type", "update"}, {"unified_diff", "@@ -1 +1 @@\n-x = 1\n+x = 2\n"}}},
                        {"/p/b.py", {{"type", "add"}, {"content", "y = 1\nz = 2\n"}}}};
  const Json rejected = {{"/p/c.py", {{"type", "add"}, {"content", "never\n"}}}};
  const Trace trace = ReadRollout(
      {UserSaid("port it"), ScriptCall("c1", "await tools.apply_patch(…)"),
       CompletedItem({{"type", "FileChange"}, {"id", "e1"}, {"changes", changes}, {"status", "completed"}}),
       CompletedItem({{"type", "FileChange"}, {"id", "e2"}, {"changes", rejected}, {"status", "declined"}})});
  std::vector<std::string> changed;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kFileChange) changed.push_back(event.path);
  }
  EXPECT_EQ(changed, (std::vector<std::string>{"/p/a.py", "/p/b.py"}));
  EXPECT_EQ(CountTrace(trace).tool_rejections, 1U);
  const std::string digest = MakeDigest({trace}, {}).text;
  EXPECT_NE(digest.find("y = 1\nz = 2"), std::string::npos) << digest;
  EXPECT_NE(digest.find("x = 2"), std::string::npos) << digest;
}

TEST(CodexScript, ToolsOfServersAreCalls) {
  const Trace trace = ReadRollout(
      {ScriptCall("c1", "await tools.mcp__units__add({a: 1})"), CompletedItem({{"type", "McpToolCall"},
                                                                               {"id", "e1"},
                                                                               {"server", "units"},
                                                                               {"tool", "add"},
                                                                               {"arguments", {{"a", 1}}},
                                                                               {"status", "failed"},
                                                                               {"error", {{"message", "no unit"}}}})});
  EXPECT_EQ(CountTrace(trace).tool_calls_by_name, (std::map<std::string, std::size_t>{{"exec", 1}, {"units__add", 1}}));
  EXPECT_EQ(trace.events.back().text, "no unit");
  EXPECT_EQ(trace.events.back().status, CallStatus::kError);
}

// Other calls are in the recording already, and what the user ran in a shell isn't the agent's.
TEST(CodexScript, ItemsRepeatNoCall) {
  Json typed = RanCommand("e2", "ls", 0, "a.py");
  typed["source"] = "user_shell";
  const Json call = {
      {"type", "function_call"}, {"name", "exec_command"}, {"arguments", R"({"cmd":"make"})"}, {"call_id", "c2"}};
  const Trace trace =
      ReadRollout({ScriptCall("c1", "text('hello')"),
                   ScriptOutput("c1", "Script completed"),
                   {"response_item", call},
                   CompletedItem(RanCommand("c2", "make", 1, "no rule")),
                   {"response_item", {{"type", "function_call_output"}, {"call_id", "c2"}, {"output", "no rule"}}},
                   CompletedItem(typed)});
  EXPECT_EQ(CommandOutcomes(trace), (std::map<std::string, CallStatus>{{"make", CallStatus::kError}}));
  EXPECT_EQ(CountTrace(trace).tool_calls, 2U);
}

std::string KeptRequests(const Trace& trace) {
  std::string kept;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kUser && !event.abandoned) kept += event.text + ";";
  }
  return kept;
}

TEST(CodexRollback, AbandonsTheLastTurns) {
  const auto back = [](int turns) {
    return RolloutRecords::value_type("event_msg", {{"type", "thread_rolled_back"}, {"num_turns", turns}});
  };
  EXPECT_EQ(KeptRequests(ReadRollout({UserSaid("a"), UserSaid("b"), back(1), UserSaid("c")})), "a;c;");
  EXPECT_EQ(KeptRequests(ReadRollout({UserSaid("a"), UserSaid("b"), UserSaid("c"), back(1), back(1), UserSaid("d")})),
            "a;d;");
  EXPECT_EQ(KeptRequests(ReadRollout({UserSaid("a"), UserSaid("b"), back(1), UserSaid("c"), back(2), UserSaid("d")})),
            "d;");
  EXPECT_EQ(KeptRequests(ReadRollout({UserSaid("a"), back(9), UserSaid("b")})), "b;");
  EXPECT_EQ(KeptRequests(ReadRollout({UserSaid("a"), back(0), UserSaid("b")})), "a;b;");
  // A recording of what the interface showed alone.
  const auto shown = [](const char* text) {
    return RolloutRecords::value_type("event_msg", {{"type", "user_message"}, {"message", text}});
  };
  EXPECT_EQ(KeptRequests(ReadRollout({shown("a"), shown("b"), back(1), shown("c")})), "a;c;");
}

TEST(CodexItems, TellASessionAlone) {
  const Trace trace = ReadRollout(
      {CompletedItem({{"type", "UserMessage"}, {"id", "1"}, {"content", {{{"type", "text"}, {"text", "Fix it"}}}}}),
       CompletedItem({{"type", "CommandExecution"},
                      {"id", "2"},
                      {"command", {"/bin/bash", "-lc", "make"}},
                      {"status", "failed"},
                      {"aggregated_output", "no"},
                      {"exit_code", 2}}),
       CompletedItem({{"type", "AgentMessage"}, {"id", "3"}, {"content", {{{"type", "Text"}, {"text", "Done."}}}}})});
  const TraceCounts counts = CountTrace(trace);
  EXPECT_EQ(counts.tool_errors, 1U);
  ASSERT_EQ(trace.events.size(), 4U);
  EXPECT_EQ(trace.events[0].text, "Fix it");
  EXPECT_EQ(trace.events[1].command, "make");
  EXPECT_EQ(trace.events[3].kind, EventKind::kAssistant);
}

TEST(CodexItems, RecordsOfTokensReplaceTheInterfacesCounts) {
  const Json usage = {{"input_tokens", 100}, {"cached_input_tokens", 40}, {"output_tokens", 10}};
  const RolloutRecords::value_type record = {"token_usage_record", {{"response_id", "r"}, {"usage", usage}}};
  const Trace trace = ReadRollout(
      {UserSaid("Fix it"),
       record,
       {"event_msg", {{"type", "token_count"}, {"info", {{"total_token_usage", usage}, {"last_token_usage", usage}}}}},
       record});
  EXPECT_EQ(CountTrace(trace).tokens.input, 60);
  EXPECT_EQ(CountTrace(trace).tokens.output, 10);
  EXPECT_TRUE(trace.unknown_records.empty());
}

// Newer versions don't repeat messages as events of the interface.
TEST(CodexItems, WhatTheProgramSaysInTheUsersName) {
  const auto failed = [](const char* output) {
    return RolloutRecords::value_type{"response_item",
                                      {{"type", "function_call_output"}, {"call_id", "c"}, {"output", output}}};
  };
  const Trace trace =
      ReadRollout({UserSaid("<environment_context>\n<cwd>/p</cwd>\n</environment_context>"),
                   UserSaid("<recommended_plugins>\nx\n</recommended_plugins>"),
                   UserSaid("<environment_context> is wrong"),
                   {"response_item", {{"type", "function_call"}, {"call_id", "c"}, {"name", "write_stdin"}}},
                   failed("write_stdin failed: Unknown process id 3")});
  const TraceCounts counts = CountTrace(trace);
  EXPECT_EQ(counts.human_turns, 1U) << "the user may write about an element";
  EXPECT_EQ(counts.tool_errors, 1U);
}

}  // namespace
}  // namespace upskill
