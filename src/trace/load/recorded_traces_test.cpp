// SPDX-License-Identifier: Apache-2.0
// Recorded sessions beside the source tree. The figures come from recorded_figures.py, which shares no
// code with the readers, and from the descriptions that came with the recordings (subagents, skills, longest outputs).
#include <gtest/gtest.h>

#include "support/source_dir.h"
#include "support/trace_expectation.h"
#include "trace/load/read_trace.h"
#include "util/files.h"

namespace upskill {
namespace {

class RecordedTraces : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = SourceDir() / ".." / "shared" / "traces";
    if (!std::filesystem::is_directory(folder_)) GTEST_SKIP() << "no recorded traces beside the source tree";
  }
  std::filesystem::path folder_;
};

TEST_F(RecordedTraces, ClaudeCode) {
  constexpr TraceFormat kFormat = TraceFormat::kClaudeCode;
  const std::string sonnet = "claude-sonnet-4-5-20250929";
  ExpectTrace(folder_, {"claude-code/agentcmd-full-session.jsonl",
                        kFormat,
                        2,
                        10,
                        {{"Bash", 10}, {"Read", 9}, {"TodoWrite", 2}, {"mcp__happy__change_title", 2}},
                        0,
                        {1223, 185540, 21565, 833},
                        {sonnet},
                        "2025-10-21T03:21:27.040Z",
                        "2025-10-21T03:23:25.403Z"});
  ExpectTrace(folder_, {"claude-code/agentcmd-full-session-two.jsonl",
                        kFormat,
                        4,
                        11,
                        {{"Read", 3}, {"AskUserQuestion", 1}, {"ExitPlanMode", 2}, {"TodoWrite", 2}, {"Edit", 2}},
                        1,
                        {45, 307871, 63095, 107},
                        {sonnet},
                        "2025-10-24T20:50:22.786Z",
                        "2025-10-24T21:29:14.372Z"});
  ExpectTrace(folder_, {"claude-code/spotter-short.jsonl",
                        kFormat,
                        1,
                        1,
                        {{"Bash", 1}, {"Glob", 1}},
                        2,
                        {3, 11515, 13835, 13},
                        {"claude-opus-4-6"},
                        "2026-02-10T21:11:52.438Z",
                        "2026-02-10T21:16:12.381Z"});
  ExpectTrace(folder_, {"claude-code/spotter-tool_heavy.jsonl",
                        kFormat,
                        2,
                        4,
                        {{"Bash", 2}, {"WebSearch", 1}, {"Glob", 1}, {"Read", 1}, {"WebFetch", 1}},
                        0,
                        {54, 88231, 17696, 212},
                        {"claude-opus-4-6"},
                        "2026-02-10T22:57:51.291Z",
                        "2026-02-10T22:59:46.748Z"});
}

TEST_F(RecordedTraces, ClaudeCodeFixturesAndResults) {
  ExpectTrace(folder_, {"claude-code/spotter-subagent.jsonl",
                        TraceFormat::kClaudeCode,
                        2,
                        12,
                        {{"WebFetch", 1},
                         {"WebSearch", 5},
                         {"Glob", 1},
                         {"Read", 1},
                         {"AskUserQuestion", 1},
                         {"Task", 1},
                         {"Write", 1},
                         {"ExitPlanMode", 1},
                         {"Bash", 4}},
                        0,
                        {1576, 427286, 25842, 1586},
                        {"claude-opus-4-6"},
                        "2026-02-10T21:54:15.897Z",
                        "2026-02-10T22:03:51.807Z",
                        1,
                        {"handgemacht:create-beads"}});
  ExpectTrace(folder_, {"claude-code/daaain-edge_cases.jsonl",
                        TraceFormat::kClaudeCode,
                        4,
                        4,
                        {{"FailingTool", 1}, {"MultiEdit", 1}, {"TodoWrite", 1}},
                        1,
                        {488, 0, 0, 435},
                        {"claude-3-sonnet-20240229", "claude-sonnet-4"},
                        "2025-06-14T10:02:00.000Z",
                        "2025-06-14T11:03:30.000Z",
                        0,
                        {},
                        6});
  ExpectTrace(folder_, {"claude-code/daaain-representative_messages.jsonl",
                        TraceFormat::kClaudeCode,
                        4,
                        5,
                        {{"Edit", 1}, {"Bash", 1}},
                        0,
                        {218, 0, 0, 445},
                        {"claude-3-sonnet-20240229"},
                        "2025-06-14T10:00:00.000Z",
                        "2025-06-14T10:04:00.000Z"});
  ExpectTrace(folder_, {"claude-code-result/claude-code-action-sample-turns.json",
                        TraceFormat::kClaudeCodeResult,
                        0,
                        4,
                        {{"Read", 1}, {"Edit", 1}, {"mcp__github__add_pull_request_review_comment", 1}},
                        0,
                        {630, 315, 0, 265},
                        {"claude-test-model"}});
}

TEST_F(RecordedTraces, EveryFileHasItsFigures) {
  const std::filesystem::path here = SourceDir() / "src/trace/load/recorded_traces_test.cpp";
  const Result<std::string> figures = ReadFile(here);
  ASSERT_TRUE(figures.ok());
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_)) {
    const std::string name = entry.path().lexically_relative(folder_).string();
    if (!entry.is_regular_file() || name.starts_with("LICENSES/") || name == "MANIFEST.md") continue;
    ++files;
    EXPECT_NE(figures->find("{\"" + name + "\","), std::string::npos) << name;
  }
  EXPECT_GE(files, 27U);
}

TEST_F(RecordedTraces, ClaudeCodeSubagent) {
  const Result<Trace> trace = ReadTrace(folder_ / "claude-code/spotter-subagent.jsonl", {});
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(CountTrace(*trace).subagent_tool_calls, 9U);
  ASSERT_EQ(trace->subagents.size(), 1U);
  EXPECT_EQ(trace->subagents[0].id, "afb92ff");
  EXPECT_EQ(trace->subagents[0].name, "Plan");
}

TEST_F(RecordedTraces, LongestToolOutput) {
  const auto longest = [&](const char* file) {
    const Result<Trace> trace = ReadTrace(folder_ / file, {});
    return trace.ok() ? CountTrace(*trace).longest_tool_output : 0;
  };
  EXPECT_EQ(longest("claude-code/agentcmd-full-session.jsonl"), 6253U);
  EXPECT_EQ(longest("claude-code/agentcmd-full-session-two.jsonl"), 8057U);
  EXPECT_EQ(longest("claude-code/spotter-tool_heavy.jsonl"), 3061U);
  EXPECT_EQ(longest("codex-rollout/agentcmd-rollout-2025-09-25T08-02-05-0199812e-64f0-7f73-91fc-095dda01c36e.jsonl"),
            10240U);
  EXPECT_EQ(longest("gemini-cli/agentcmd-session-2025-10-27T19-55-981c87cb.json"), 5943U);
  EXPECT_EQ(longest("opencode/opencode-nvim-planning.events.json"), 990U);
}

TEST_F(RecordedTraces, Codex) {
  ExpectTrace(folder_, {"codex-rollout/agentcmd-rollout-2025-09-25T08-02-05-0199812e-64f0-7f73-91fc-095dda01c36e.jsonl",
                        TraceFormat::kCodexRollout,
                        2,
                        1,
                        {{"shell", 57}},
                        12,
                        {1392279 - 1310208, 1310208, -1, 8672},
                        {"gpt-5-codex"},
                        "2025-09-25T14:02:05.435Z",
                        "2025-09-25T14:12:20.097Z"});
  ExpectTrace(
      folder_,
      {"codex-rollout/agent-sessions-codex_small.jsonl",
       TraceFormat::kCodexRollout,
       1,
       1,
       {{"shell", 2}, {"[trimmed for fixture]", 2}, {"tool_search", 2}, {"web_search", 1}, {"image_generation", 1}},
       0,
       {16341 - 3584, 3584, 0, 81},
       {"gpt-5.6-luna", "gpt-5.5", "codex-auto-review", "gpt-5.4", "gpt-5.2", "gpt-5.2-codex", "gpt-5.1",
        "gpt-5.6-sol"},
       "2026-08-03T10:48:56.000Z",
       "2026-08-03T10:48:56.000Z",
       1,
       {},
       6});
  ExpectTrace(folder_,
              {"codex-exec/agentcmd-stream-output-1.jsonl", TraceFormat::kCodexExec, 0, 1, {}, 0, {2946, 0, -1, 7}});
  ExpectTrace(folder_, {"codex-exec/agentcmd-stream-output-2.jsonl",
                        TraceFormat::kCodexExec,
                        0,
                        1,
                        {{"command_execution", 1}},
                        0,
                        {6040 - 4992, 4992, -1, 129}});
  ExpectTrace(
      folder_,
      {"codex-exec/agentcmd-stream-output-3.jsonl", TraceFormat::kCodexExec, 0, 1, {}, 0, {6008 - 4096, 4096, -1, 51}});
  ExpectTrace(folder_, {"codex-exec/agentcmd-stream-output-4.jsonl",
                        TraceFormat::kCodexExec,
                        0,
                        1,
                        {{"command_execution", 1}},
                        0,
                        {6087 - 5120, 5120, -1, 204}});
  ExpectTrace(folder_, {"codex-exec/agentcmd-stream-output-5.jsonl",
                        TraceFormat::kCodexExec,
                        0,
                        1,
                        {{"command_execution", 1}},
                        0,
                        {6086 - 2944, 2944, -1, 223}});
}

TEST_F(RecordedTraces, GeminiAndOpenCode) {
  ExpectTrace(
      folder_,
      {"gemini-cli/agentcmd-session-2025-10-27T19-55-981c87cb.json",
       TraceFormat::kGeminiCli,
       3,
       15,
       {{"list_directory", 3}, {"write_file", 2}, {"run_shell_command", 5}, {"read_file", 2}, {"google_web_search", 1}},
       4,
       {102805 - 45385, 45385, -1, 1551 + 4905},
       {"gemini-2.5-pro"},
       "2025-10-27T19:56:01.701Z",
       "2025-10-27T20:24:29.688Z"});
  ExpectTrace(folder_, {"gemini-cli/agent-sessions-gemini_jsonl_v040.jsonl",
                        TraceFormat::kGeminiCli,
                        1,
                        2,
                        {{"run_shell_command", 1}},
                        0,
                        {11855 + 12069 - 11502, 11502, -1, 81 + 147},
                        {"gemini-3-flash-preview"},
                        "2026-04-29T21:39:22.319Z",
                        "2026-04-29T21:39:45.996Z"});
  ExpectTrace(folder_, {"opencode/opencode-nvim-planning.events.json",
                        TraceFormat::kOpenCode,
                        1,
                        4,
                        {{"todowrite", 2}, {"read", 1}},
                        0,
                        {48054, 43559, 0, 636},
                        {"claude-sonnet-4"},
                        "2025-10-11T17:41:45.289Z",
                        "2025-10-11T17:42:02.347Z"});
  ExpectTrace(folder_, {"opencode/kimaki-real-session-task-normal.jsonl",
                        TraceFormat::kOpenCode,
                        1,
                        1,
                        {},
                        0,
                        {39025, 0, 0, 0},
                        {"gemini-2.5-flash"},
                        "2026-03-04T16:25:10.601Z",
                        "2026-03-04T16:25:12.680Z"});
}

TEST_F(RecordedTraces, PiAndCopilot) {
  ExpectTrace(folder_, {"pi/agent-sessions-pi_small.jsonl",
                        TraceFormat::kPi,
                        2,
                        2,
                        {},
                        0,
                        {24, 0, 0, 14},
                        {"pi-fixture-model"},
                        "2026-05-12T01:02:27.657Z",
                        "2026-05-12T01:02:45.843Z"});
  // The one real turn is followed by a catalogue of event kinds: a second user message, two answers, a subagent.
  ExpectTrace(folder_, {"copilot/agent-sessions-copilot_small.jsonl",
                        TraceFormat::kCopilot,
                        2,
                        4,
                        {{"shell", 1}, {"[trimmed for fixture]", 2}},
                        2,
                        {100, 5, 0, 15},
                        {"gpt-5-mini"},
                        "2025-12-18T21:32:05.000Z",
                        "2025-12-18T21:32:20.000Z",
                        1});
}

TEST_F(RecordedTraces, BenchmarksAndExports) {
  ExpectTrace(folder_, {"atif/fast-agent-harbor_multiagent_v1_7.json",
                        TraceFormat::kAtif,
                        1,
                        2,
                        {{"worker", 1}, {"shell", 1}},
                        0,
                        {250 - 120, 120, -1, 50},
                        {"codexresponses.gpt-5.4?reasoning=high"},
                        "2026-07-12T12:00:00.000Z",
                        "2026-07-12T12:00:02.000Z",
                        1});
  ExpectTrace(folder_, {"inspect/inspect-log_read_sample.eval",
                        TraceFormat::kInspect,
                        1,
                        1,
                        {},
                        0,
                        {66, -1, -1, 3},
                        {"ollama/gemma3"},
                        "2025-07-05T13:59:48.945Z",
                        "2025-07-05T13:59:49.361Z"});
  ExpectTrace(folder_, {"swe-agent/function_calling_simple.traj",
                        TraceFormat::kSweAgent,
                        1,
                        5,
                        {{"find_file", 1}, {"open", 1}, {"edit", 1}, {"bash", 1}, {"submit", 1}},
                        0});
  ExpectTrace(folder_, {"mini-swe-agent/local.traj.json", TraceFormat::kMiniSweAgent, 1, 2, {{"bash", 2}}, 0});
  ExpectTrace(folder_, {"hf-sts/example.jsonl", TraceFormat::kHfSts, 1, 2, {{"get_time", 1}}, 0});
  // The second user block is the body of the slash command, not typed.
  ExpectTrace(folder_, {"specstory/2026-02-10_21-49-42Z-command-message-insights-command.md",
                        TraceFormat::kSpecStory,
                        1,
                        1,
                        {},
                        0,
                        {-1, -1, -1, -1},
                        {"claude-opus-4-5-20251101"},
                        "2026-02-10T21:49:42.000Z",
                        "2026-02-10T21:49:45.000Z",
                        0,
                        {"insights"}});
}

}  // namespace
}  // namespace upskill
