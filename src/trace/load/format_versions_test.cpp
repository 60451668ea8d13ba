// SPDX-License-Identifier: Apache-2.0
// Older, newer and rarer forms of formats whose usual form is in readers_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/trace_expectation.h"
#include "trace/load/read_trace.h"
#include "util/json.h"

namespace upskill {
namespace {

void Expect(const TraceExpectation& expected) { ExpectTrace(FixtureFolder(), expected); }

TEST(FormatVersionsTest, Atif) {
  Expect({"atif-1.0.json", TraceFormat::kAtif, 1, 1, {{"bash", 1}}, 0, {-1, -1, -1, -1}, {"m0"}});
  // Copied steps are not counted again; the totals contain the subagent.
  Expect({"atif-1.7.json",
          TraceFormat::kAtif,
          1,
          2,
          {{"shell", 1}, {"worker", 1}},
          1,
          {230 - 130, 130, -1, 18},
          {"m7"},
          "2026-03-01T10:00:00.000Z",
          "2026-03-01T10:03:00.000Z",
          1});
  const Trace atif = ReadFixture("atif-1.7.json");
  const std::size_t failed = FindText(atif, "1 failed");
  EXPECT_EQ(atif.events.at(atif.events.at(failed).partner).command, "make test");
}

TEST(FormatVersionsTest, OtherAgents) {
  Expect({"mini-swe-agent-1.json", TraceFormat::kMiniSweAgent, 1, 2, {{"bash", 2}}, 1});
  Expect({"specstory-1.md", TraceFormat::kSpecStory, 2, 1, {}, 0});
  Expect({"claude-code-stream.jsonl",
          TraceFormat::kClaudeCodeResult,
          0,
          2,
          {{"Task", 1}},
          0,
          {10 + 12, -1, -1, 8 + 4},
          {"claude-x"},
          "",
          "",
          1});
  Expect({"sharegpt.json", TraceFormat::kOpenAiMessages, 2, 1, {}, 0});
  Expect({"gemini-checkpoint.json", TraceFormat::kGeminiCli, 1, 2, {{"list_directory", 1}}, 0});
}

// The messages look like those of Codex's first format.
TEST(FormatVersionsTest, TheStreamThatGeminiCliPrints) {
  Expect({"gemini-stream.jsonl",
          TraceFormat::kGeminiCli,
          1,
          2,
          {{"list_directory", 1}, {"read_file", 1}},
          1,
          {130 - 30, 30, -1, 175 - 130},
          {"gemini-x"},
          "2026-03-01T10:00:00.000Z",
          "2026-03-01T10:00:05.000Z"});
  const Trace trace = ReadFixture("gemini-stream.jsonl");
  EXPECT_NE(FindText(trace, "I'll list the files."), kNoIndex);
}

TEST(FormatVersionsTest, GeminiRewindsTakeBackTheNamedMessage) {
  const auto kept = [](std::initializer_list<const char*> steps) {
    std::string text = R"({"sessionId":"s","startTime":"2026-03-01T10:00:00.000Z","kind":"main"})";
    for (const std::string step : steps) {
      text += step.starts_with("<")
                  ? "\n{\"$rewindTo\":\"" + step.substr(1) + "\"}"
                  : "\n{\"id\":\"" + step + R"(","type":"user","content":[{"text":")" + step + "\"}]}";
    }
    const Result<Trace> trace = ReadTrace(LineSource::FromText(text + "\n", "s.jsonl"), {});
    std::string requests;
    if (!trace.ok()) return requests;
    for (const Event& event : trace->events) requests += event.abandoned ? "" : event.text;
    return requests;
  };
  EXPECT_EQ(kept({"a", "b", "c", "<c", "d"}), "abd");
  EXPECT_EQ(kept({"a", "b", "c", "<b", "d", "<d", "e"}), "ae");
  EXPECT_EQ(kept({"a", "b", "<a", "c"}), "c");
  EXPECT_EQ(kept({"a", "b", "<b", "b", "c"}), "abc") << "a message that was sent again";
  EXPECT_EQ(kept({"a", "b", "<unknown", "c"}), "c");
}

TEST(FormatVersionsTest, EventStreamsResponsesAndUnfinishedRuns) {
  Expect({"opencode-events.jsonl",
          TraceFormat::kOpenCode,
          1,
          1,
          {{"bash", 1}},
          1,
          {30, 0, 0, 6 + 2},
          {"glm-x"},
          "2026-02-25T06:13:20.000Z",
          "2026-02-25T06:13:23.000Z"});
  Expect({"fast-agent-old.json", TraceFormat::kFastAgent, 1, 1, {}, 0});
  Expect({"anthropic-response.json",
          TraceFormat::kAnthropicMessages,
          0,
          1,
          {{"get_weather", 1}},
          0,
          {12, 30, 4, 9},
          {"claude-x"}});
  Expect({"pi-1.jsonl",
          TraceFormat::kPi,
          1,
          1,
          {{"bash", 1}},
          0,
          {7, 0, 0, 2},
          {"pi-m"},
          "2026-03-01T10:00:00.000Z",
          "2026-03-01T10:03:00.000Z"});
  Expect({"inspect-unfinished.eval",
          TraceFormat::kInspect,
          1,
          1,
          {{"bash", 1}},
          1,
          {20, -1, -1, 4},
          {"p/im"},
          "2026-03-01T10:00:01.000Z",
          "2026-03-01T10:00:05.000Z"});
}

TEST(FormatVersionsTest, ClaudeCodeOnTheWeb) {
  const char* const lines = R"([
    {"type":"user","timestamp":"2026-01-02T03:04:05.000Z","message":{"role":"user","content":"add two numbers"}},
    {"type":"assistant","timestamp":"2026-01-02T03:04:06.000Z","message":{"role":"assistant","content":[
      {"type":"text","text":"I write it."},
      {"type":"tool_use","id":"t1","name":"Bash","input":{"command":"make"}}]}},
    {"type":"user","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":[
      {"type":"tool_result","tool_use_id":"t1","content":"no rule","is_error":true}]}}])";
  for (const char* key : {"loglines", "events", "data"}) {
    const std::string document = fmt::format("{{\"session_id\": \"s\", \"{}\": {}}}", key, lines);
    const Result<Trace> trace = ReadTrace(LineSource::FromText(document, "web.json"), {});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_EQ(trace->format, TraceFormat::kClaudeCode) << key;
    const TraceCounts counts = CountTrace(*trace);
    EXPECT_EQ(counts.human_turns, 1U);
    EXPECT_EQ(counts.tool_calls, 1U);
    EXPECT_EQ(counts.tool_errors, 1U);
  }
}

TEST(FormatVersionsTest, AnApiErrorIsNoAnswer) {
  const std::string lines =
      R"({"type":"user","uuid":"1","sessionId":"s","message":{"role":"user","content":"build it"}})"
      "\n"
      R"({"type":"assistant","uuid":"2","sessionId":"s","message":{"id":"m","role":"assistant","model":"<synthetic>",)"
      R"("content":[{"type":"text","text":"API Error: the response exceeded the maximum"}]}})"
      "\n";
  const Result<Trace> trace = ReadTrace(LineSource::FromText(lines, "s.jsonl"), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->events.at(1).kind, EventKind::kSystem);
  EXPECT_TRUE(trace->models.empty());
  EXPECT_EQ(CountTrace(*trace).assistant_messages, 0U);
}

TEST(FormatVersionsTest, SweAgentOutputThatMentionsFailures) {
  const auto run = [](const std::string& observation) {
    const Json document = {{"trajectory", Json::array()},
                           {"info", Json::object()},
                           {"history",
                            {{{"role", "user"}, {"content", "fix it"}},
                             {{"role", "assistant"}, {"content", "look"}, {"action", "cat env.py"}},
                             {{"role", "user"}, {"content", observation}}}}};
    const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.traj"), {});
    EXPECT_TRUE(trace.ok());
    return trace.ok() ? CountTrace(*trace).tool_errors : 99;
  };
  EXPECT_EQ(run("raise RuntimeError('EXECUTION TIMED OUT')"), 0U);
  EXPECT_EQ(run("\nEXECUTION TIMED OUT because the command ran too long"), 1U);
  EXPECT_EQ(run("OBSERVATION:\nYour proposed edit has introduced new syntax error(s)."), 1U);
}

TEST(FormatVersionsTest, SweAgentStepThatOnlyTheTrajectoryHas) {
  const auto calls = [](const Json& trajectory) {
    const Json document = {{"trajectory", trajectory},
                           {"info", Json::object()},
                           {"history",
                            {{{"role", "user"}, {"content", "shown"}, {"is_demo", true}},
                             {{"role", "assistant"}, {"content", "shown"}, {"action", "ls"}, {"is_demo", true}},
                             {{"role", "user"}, {"content", "fix it"}},
                             {{"role", "assistant"}, {"content", "look"}, {"action", "cat env.py"}},
                             {{"role", "user"}, {"content", "x = 1"}}}}};
    const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.traj"), {});
    EXPECT_TRUE(trace.ok());
    std::vector<std::string> commands;
    for (const Event& event : trace->events) {
      if (event.kind == EventKind::kToolCall) commands.push_back(event.command);
    }
    return commands;
  };
  const Json first = {{"response", "look"}, {"action", "cat env.py"}, {"observation", "x = 1"}};
  const Json last = {{"response", "done"}, {"action", "submit"}, {"observation", "EXECUTION TIMED OUT"}};
  const std::vector<std::string> before = calls({first});
  ASSERT_EQ(before.size(), 1U);
  const std::vector<std::string> after = calls({first, last});
  ASSERT_EQ(after.size(), 2U);
  EXPECT_EQ(after[0], before[0]);
  EXPECT_EQ(after[1], "submit");
  EXPECT_EQ(calls({first, last, last}), before) << "what else is missing can't be told apart";
}

TEST(FormatVersionsTest, SweAgentHistoryThatEndsWithTheLastAnswer) {
  const Json repeated = {{"response", "again"}, {"action", "edit 1:1"}, {"observation", "no"}};
  const Json last = {{"response", "done"}, {"action", "submit"}, {"observation", ""}};
  const Json document = {{"trajectory", {repeated, repeated, last}},
                         {"info", Json::object()},
                         {"history",
                          {{{"role", "user"}, {"content", "fix it"}},
                           {{"role", "assistant"}, {"content", "again"}, {"action", "edit 1:1"}},
                           {{"role", "user"}, {"content", "no"}},
                           {{"role", "assistant"}, {"content", "done"}, {"action", "submit"}}}}};
  const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.traj"), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(CountTrace(*trace).tool_calls, 2U) << "the last step is in the history";
}

TEST(FormatVersionsTest, MiniSweAgentAnswersWithoutOneAction) {
  const std::string two = "first\n```bash\nls\n```\nthen\n```bash\nmake\n```";
  const Json document = {
      {"trajectory_format", "mini-swe-agent-1"},
      {"info", {{"submission", "diff --git a/x b/x\n"}, {"exit_status", "Submitted"}}},
      {"messages",
       {{{"role", "user"}, {"content", "fix it"}},
        {{"role", "assistant"}, {"content", two}},
        {{"role", "user"}, {"content", "Please always provide EXACTLY ONE action in triple backticks, found 2."}},
        {{"role", "assistant"}, {"content", "```bash\nls```"}},
        {{"role", "user"}, {"content", "Please always provide EXACTLY ONE action in triple backticks, found 0."}},
        {{"role", "assistant"}, {"content", "```bash\necho SUBMIT && git diff\n```"}},
        {{"role", "user"}, {"content", "diff --git a/x b/x\n"}}}}};
  const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.traj.json"), {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, 1U);
  EXPECT_EQ(counts.assistant_messages, 3U);
  EXPECT_EQ(counts.tool_calls, 1U);
  EXPECT_EQ(trace->events.back().kind, EventKind::kToolResult);
}

// The export of a session that reads such an export: its calls are text there.
TEST(FormatVersionsTest, SpecStoryInsideSpecStory) {
  const std::string text =
      "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n# Session\n\n"
      "<!-- Claude Code Session 5f (2026-03-01 10:00:00Z) -->\n\n_**User (2026-03-01T10:00:00.500Z)**_\n\nread "
      "it\n\n---\n\n"
      "_**Agent (claude-x 2026-03-01T10:00:02.000Z)**_\n\n"
      "<tool-use data-tool-type=\"shell\" data-tool-name=\"Bash\"><details>\n<summary>Tool use: "
      "**Bash**</summary>\n\n`cat a`\n\n"
      "```text\n+\"<tool-use data-tool-type=\\\"read\\\">x</tool-use>\\n\"\n```\n\n</details></tool-use>\n\n---\n\n"
      "_**Agent (claude-x 2026-03-01T10:00:03.000Z)**_\n\nDone.\n\n---\n\n"
      "_**User "
      "(2026-03-01T10:01:00.000Z)**_\n\n<command-name>/exit</command-name>\n<command-message>exit</"
      "command-message>\n\n---\n\n"
      "_**User (2026-03-01T10:01:00.000Z)**_\n\n<local-command-caveat>Caveat: by the "
      "program</local-command-caveat>\n\n---\n\n"
      "_**User (2026-03-01T10:01:00.000Z)**_\n\n<local-command-stdout>Bye!</local-command-stdout>\n";
  const Result<Trace> trace = ReadTrace(LineSource::FromText(text, "a.md"), {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(trace->format, TraceFormat::kSpecStory);
  EXPECT_EQ(counts.human_turns, 1U) << "/exit is no request";
  EXPECT_EQ(counts.assistant_messages, 2U);
  EXPECT_EQ(counts.tool_calls, 1U);
  EXPECT_EQ(trace->models, std::vector<std::string>{"claude-x"});
  EXPECT_TRUE(trace->skills.empty());
}

TEST(FormatVersionsTest, SpecStoryOfOtherAgents) {
  const std::string call =
      "_**Agent (m 2026-03-01 10:00:02Z)**_\n\n<tool-use data-tool-type=\"shell\" "
      "data-tool-name=\"run\"><details><summary>Tool use: **Shell**</summary>\n\n```bash\nmake\n"
      "```\n\nResult:\n```text\nOutput: x\nExit Code: ";
  const std::string end = "\nSignal: 0\n```\n</details></tool-use>\n\n";
  const std::string text = "<!-- Generated by SpecStory, Markdown v2.0.0 -->\n\n_**User**_\n\nbuild it\n\n---\n\n" +
                           call + "2" + end + call + "0" + end + "---\n\n_**User**_\n\n/exit\n ⎿  Bye!\n";
  const Result<Trace> trace = ReadTrace(LineSource::FromText(text, "a.md"), {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, 1U) << "/exit is no request";
  EXPECT_EQ(counts.tool_calls, 2U);
  EXPECT_EQ(counts.tool_errors, 1U);
  EXPECT_EQ(trace->events.at(1).command, "make");
}

TEST(FormatVersionsTest, ExportsWithNoBreakSpacesBeforeOutputs) {
  const std::string text =
      "╭─── Claude Code v2.1.80 ───╮\n╰───────────────────────────╯\n\n❯ build it\n\n"
      "● Bash(cargo build)\n  ⎿ \u00a0Error: Exit code 127\n     cargo: command not found\n\n"
      "● Bash(rustup)\n  ⎿ \u00a0Interrupted · What should Claude do instead?\n\n● Bash(ls)\n  ⎿ \u00a0a.rs\n";
  const Result<Trace> trace = ReadTrace(LineSource::FromText(text, "a.txt"), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->format, TraceFormat::kClaudeCodeExport);
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.tool_calls, 3U);
  EXPECT_EQ(counts.tool_errors, 2U) << "one failed, one was stopped";
}

TEST(FormatVersionsTest, MessageListsThatWereClaudeCodeSessions) {
  const Json document = {
      {"model", "m"},
      {"messages",
       {{{"role", "user"}, {"content", "<local-command-caveat>Caveat</local-command-caveat>"}},
        {{"role", "user"}, {"content", "<command-name>/model</command-name>"}},
        {{"role", "user"}, {"content", "<local-command-stdout>Set model</local-command-stdout>"}},
        {{"role", "user"},
         {"content",
          {{{"type", "text"}, {"text", "What is in"}},
           {{"type", "text"}, {"text", "this picture?"}},
           {{"type", "image"}}}}},
        {{"role", "assistant"}, {"content", "A hedgehog."}},
        {{"role", "user"},
         {"content", "<command-message>continue</command-message>\n<command-name>/continue</command-name>"}},
        {{"role", "assistant"}, {"content", "A hedgehog."}},
        {{"role", "user"}, {"content", "[Request interrupted by user]"}}}}};
  const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.json"), {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->format, TraceFormat::kOpenAiMessages);
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, 2U);
  EXPECT_EQ(counts.assistant_messages, 2U) << "an answer may recur";
}

TEST(FormatVersionsTest, AtifContinuations) {
  const Json first = {{"step_id", 1}, {"source", "user"}, {"message", "port it"}, {"is_copied_context", true}};
  const Json summary = {{"step_id", 2}, {"source", "agent"}, {"message", "so far: half"}, {"is_copied_context", true}};
  const Json own = {{"step_id", 3}, {"source", "agent"}, {"message", "done"}};
  const Json document = {{"schema_version", "ATIF-v1.6"},
                         {"agent", {{"name", "terminus"}}},
                         {"continued_trajectory_ref", "trajectory.cont-2.json"},
                         {"steps", {first, summary, own}}};
  const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "cont-1.json"), {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, 1U);
  EXPECT_EQ(counts.assistant_messages, 1U);
  EXPECT_EQ(trace->events.at(1).kind, EventKind::kSummary);
  ASSERT_EQ(trace->caveats.size(), 1U);
  EXPECT_EQ(trace->caveats[0], "the session goes on in trajectory.cont-2.json");
}

// Other configurations have actions that are no fenced blocks.
TEST(FormatVersionsTest, MiniSweAgentActionsOfAnotherForm) {
  const Json document = {{"trajectory_format", "mini-swe-agent-1"},
                         {"info", {{"submission", "diff --git a/x b/x\n"}}},
                         {"messages",
                          {{{"role", "user"}, {"content", "fix it"}},
                           {{"role", "assistant"}, {"content", "run('make')"}},
                           {{"role", "user"}, {"content", "<returncode>2</returncode>\n<output>\nno\n</output>"}},
                           {{"role", "assistant"}, {"content", "```bash\nsleep 99\n```"}},
                           {{"role", "user"}, {"content", "The last action timed out and has been killed.\n"}},
                           {{"role", "user"}, {"content", "Excellent! You may go on."}},
                           {{"role", "user"}, {"content", "Interrupted by user: be quick"}},
                           {{"role", "assistant"}, {"content", "submit()"}},
                           {{"role", "user"}, {"content", "diff --git a/x b/x\n"}}}}};
  const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.traj.json"), {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, 2U) << "one by the program";
  EXPECT_EQ(counts.tool_calls, 3U);
  EXPECT_EQ(counts.tool_errors, 2U);
}

TEST(FormatVersionsTest, AtifOfHarborHasSubagentsAmongTheSteps) {
  const auto step = [](const char* call, bool sidechain, bool failed) {
    return Json{{"source", "agent"},
                {"tool_calls", {{{"tool_call_id", call}, {"function_name", "Bash"}}}},
                {"extra", {{"is_sidechain", sidechain}, {"tool_result_is_error", failed}}},
                {"observation", {{"results", {{{"source_call_id", call}, {"content", "x"}}}}}}};
  };
  const Json document = {
      {"schema_version", "ATIF-v1.2"},
      {"agent", {{"name", "claude-code"}}},
      {"steps", {{{"source", "user"}, {"message", "port it"}}, step("a", true, true), step("b", false, true)}}};
  const Result<Trace> trace = ReadTrace(LineSource::FromText(DumpJson(document), "a.json"), {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, 1U);
  EXPECT_EQ(counts.tool_calls, 1U);
  EXPECT_EQ(counts.subagent_tool_calls, 1U);
  EXPECT_EQ(counts.tool_errors, 1U);
}

}  // namespace
}  // namespace upskill
