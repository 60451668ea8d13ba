// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "support/source_dir.h"
#include "support/trace_expectation.h"
#include "trace/digest/digest_item.h"
#include "trace/load/read_trace.h"
#include "util/files.h"

namespace upskill {
namespace {

TEST(ReadersTest, ClaudeCode) {
  ExpectTrace(FixtureFolder(), {"claude-code.jsonl",
                                TraceFormat::kClaudeCode,
                                4,
                                6,
                                {{"Bash", 2}, {"Edit", 1}, {"Task", 1}, {"Skill", 1}},
                                2,
                                {19, 53800, 1100, 149},
                                {"claude-x"},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:15:00.000Z",
                                1,
                                {"dates", "review"},
                                1});
  const Trace trace = ReadFixture("claude-code.jsonl");
  const std::size_t change = FindText(trace, "zone = offset");
  ASSERT_NE(change, kNoIndex);
  ASSERT_NE(trace.events[change].partner, kNoIndex);
  EXPECT_EQ(trace.events[trace.events[change].partner].status, CallStatus::kOk);
  EXPECT_EQ(trace.subagents.at(0).name, "Explore");
  EXPECT_EQ(trace.title, "Repair of the date parser");
  // Text injected into a typed message isn't part of it.
  const std::size_t correction = FindText(trace, "keep the old name");
  EXPECT_EQ(trace.events.at(correction).text, "no, keep the old name of the function");
  EXPECT_EQ(trace.events.at(correction).line, 23U);
  // A record of an unknown kind is counted and kept.
  const std::size_t unknown = FindText(trace, R"({"type":"hologram")");
  ASSERT_NE(unknown, kNoIndex);
  EXPECT_EQ(trace.events[unknown].kind, EventKind::kUnknown);
  EXPECT_EQ(trace.events[unknown].line, 26U);
}

TEST(ReadersTest, ClaudeCodeResumedAndRewound) {
  const Trace trace = ReadFixture("claude-code-resumed.jsonl");
  EXPECT_EQ(CountTrace(trace).human_turns, 3U);
  EXPECT_TRUE(trace.events.at(FindText(trace, "first wording")).abandoned);
  EXPECT_TRUE(trace.events.at(FindText(trace, "answer one")).abandoned);
  EXPECT_FALSE(trace.events.at(FindText(trace, "second wording")).abandoned);
  EXPECT_EQ(trace.caveats.at(0), "1 repeated line was skipped");
}

TEST(ReadersTest, ClaudeCodeResult) {
  ExpectTrace(FixtureFolder(), {"claude-code-result.json",
                                TraceFormat::kClaudeCodeResult,
                                0,
                                2,
                                {{"Bash", 1}},
                                0,
                                {22, 5, 5, 24},
                                {"claude-x"}});
  EXPECT_DOUBLE_EQ(ReadFixture("claude-code-result.json").cost_usd.value_or(0), 0.012);
}

TEST(ReadersTest, FastAgentText) {
  ExpectTrace(FixtureFolder(), {"fast-agent.txt", TraceFormat::kFastAgent, 2, 2});
  const Trace trace = ReadFixture("fast-agent.txt");
  ASSERT_EQ(trace.events.size(), 5U);
  EXPECT_EQ(trace.events[0].text, "[file] file:///p/server.toml\nport = 8123\n");
  EXPECT_EQ(trace.events[1].text, "Which port does the server use? The configuration is attached.");
  EXPECT_EQ(trace.events[1].line, 1U);
  EXPECT_EQ(trace.events[2].text, "Port 8123, as `server.toml` says.\n\n---\nIt is not configurable by a flag.");
  EXPECT_TRUE(trace.lossy);
}

TEST(ReadersTest, ClaudeCodeSubagentFiles) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "upskill-subagents";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "s1" / "subagents");
  const auto line = [](const char* uuid, const char* agent, const char* call) {
    return std::string(R"({"type":"assistant","sessionId":"s1","uuid":")") + uuid + R"(",)" + agent +
           R"("message":{"id":"m)" + uuid + R"(","role":"assistant","model":"x","content":[{"type":"tool_use","id":")" +
           call + R"(","name":"Bash","input":{"command":"ls"}}],"usage":{"output_tokens":5}}})" + "\n";
  };
  const std::string side = R"("isSidechain":true,"agentId":"ab1",)";
  ASSERT_TRUE(WriteFileAtomically(folder / "s1.jsonl", line("u1", "", "t1")).ok());
  const std::string inner = line("u2", side.c_str(), "t2") + line("u3", side.c_str(), "t3");
  ASSERT_TRUE(WriteFileAtomically(folder / "s1/subagents/agent-ab1.jsonl", inner).ok());
  ASSERT_TRUE(WriteFileAtomically(folder / "s1/subagents/agent-acompact-1.jsonl", line("u4", side.c_str(), "t4")).ok());
  const Result<Trace> trace = ReadTrace(folder / "s1.jsonl", {});
  ASSERT_TRUE(trace.ok());
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.tool_calls, 1U);
  EXPECT_EQ(counts.subagent_tool_calls, 2U);
  EXPECT_EQ(counts.subagents, 1U);
  EXPECT_EQ(counts.tokens.output.value_or(0), 5);
  EXPECT_EQ(counts.subagent_tokens.output.value_or(0), 10);
  // By itself, the subagent's file is a session.
  const std::string asked = R"({"type":"user","sessionId":"s1","uuid":"u0",)" + side +
                            R"("message":{"role":"user","content":"look for the parser"}})" + "\n";
  const Result<Trace> alone = ReadTrace(LineSource::FromText(asked + inner, "agent-ab1.jsonl"), {});
  ASSERT_TRUE(alone.ok());
  const TraceCounts own = CountTrace(*alone);
  EXPECT_EQ(own.human_turns, 1U);
  EXPECT_EQ(own.tool_calls, 2U);
  EXPECT_EQ(own.subagents, 0U);
  EXPECT_EQ(own.tokens.output.value_or(0), 10);
  EXPECT_EQ(alone->events.front().text, "look for the parser");
  std::filesystem::remove_all(folder);
}

TEST(ReadersTest, FormatCanBeForced) {
  TraceReadOptions options;
  options.format = TraceFormat::kNotes;
  const Result<Trace> trace = ReadTrace(FixtureFolder() / "cursor.md", options);
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace->format, TraceFormat::kNotes);
  // Even if the text begins like JSON, or is JSON.
  for (const char* text : {"{\"a\": 1}\nnot JSON\n", R"([{"role":"user","content":"x"}])"}) {
    const Result<Trace> notes = ReadTrace(LineSource::FromText(text, "n"), options);
    ASSERT_TRUE(notes.ok()) << notes.error().message;
    EXPECT_EQ(notes->format, TraceFormat::kNotes);
    ASSERT_EQ(notes->events.size(), 1U);
  }
}

TEST(ReadersTest, ClaudeCodeExport) {
  ExpectTrace(FixtureFolder(), {"claude-code-export-2.1.txt",
                                TraceFormat::kClaudeCodeExport,
                                2,
                                2,
                                {{"Bash", 3}, {"Read", 2}, {"Skill", 1}, {"Update", 1}, {"Write", 1}},
                                2,
                                {-1, -1, -1, -1},
                                {"Opus 4.6"},
                                "",
                                "",
                                0,
                                {"changelog"}});
  ExpectTrace(FixtureFolder(), {"claude-code-export-2.0.txt",
                                TraceFormat::kClaudeCodeExport,
                                2,
                                2,
                                {{"Bash", 1}},
                                0,
                                {-1, -1, -1, -1},
                                {"Sonnet 4.5"}});
  const Trace trace = ReadFixture("claude-code-export-2.1.txt");
  EXPECT_TRUE(trace.lossy);
  EXPECT_EQ(trace.dropped_lines, 50U);
  EXPECT_EQ(trace.agent_version, "2.1.40");
  EXPECT_EQ(trace.cwd, "~/proj/demo");
  EXPECT_EQ(trace.events.at(FindText(trace, "negative offset")).text,
            "the date parser drops the time zone, please repair it and add a test for the\ncase of a negative offset");
  EXPECT_EQ(trace.events.at(FindText(trace, "date.zone")).text,
            "Updated src/date_parser.cpp with 2 additions and 1 removal\n@@ -17,1 +17,1 @@\n-// zone is "
            "ignored\n+date.zone = zone;\n");
  // The command was cut inside a path.
  const std::size_t grep = FindText(trace, "grep -n");
  EXPECT_NE(trace.events.at(grep).command.find("src/parsers/of/dates/date_parser.cpp"), std::string::npos)
      << trace.events[grep].command;
  const std::size_t failed = FindText(trace, "Exit code 8");
  EXPECT_EQ(trace.events.at(failed).status, CallStatus::kError);
  EXPECT_EQ(trace.events.at(FindText(trace, "User rejected")).status, CallStatus::kRejected);
}

TEST(ReadersTest, Codex) {
  ExpectTrace(FixtureFolder(), {"codex-rollout.jsonl",
                                TraceFormat::kCodexRollout,
                                1,
                                1,
                                {{"shell", 2}, {"apply_patch", 1}},
                                2,
                                {300, 700, -1, 47},
                                {"gpt-x"},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:07:00.000Z",
                                0,
                                {},
                                1});
  ExpectTrace(FixtureFolder(), {"codex-rollout-old.jsonl",
                                TraceFormat::kCodexRollout,
                                1,
                                1,
                                {{"shell", 1}},
                                0,
                                {-1, -1, -1, -1},
                                {},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:00:00.000Z"});
  ExpectTrace(FixtureFolder(), {"codex-exec.jsonl",
                                TraceFormat::kCodexExec,
                                0,
                                1,
                                {{"command_execution", 1}, {"docs__search", 1}},
                                1,
                                {40, 60, -1, 9}});
  const Trace trace = ReadFixture("codex-rollout.jsonl");
  EXPECT_EQ(trace.events.at(FindText(trace, "run the tests")).kind, EventKind::kUser);
  EXPECT_EQ(trace.events.at(FindText(trace, "Active file")).kind, EventKind::kSystem);
  std::size_t call = kNoIndex;
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].command == "make test") call = i;
  }
  ASSERT_NE(call, kNoIndex);
  EXPECT_EQ(trace.events[trace.events[call].partner].text, "1 failed");
}

TEST(ReadersTest, GeminiBothForms) {
  for (const std::string file : {"gemini-cli.json", "gemini-cli.jsonl"}) {
    const bool rewound = file.ends_with("l");  // an answer was taken back
    ExpectTrace(FixtureFolder(), {file,
                                  TraceFormat::kGeminiCli,
                                  1,
                                  rewound ? 3U : 2U,
                                  {{"run_shell_command", 1}, {"read_file", 1}},
                                  1,
                                  {180, 40, -1, 19},
                                  {"gemini-x"},
                                  "2026-03-01T10:00:00.000Z",
                                  rewound ? "2026-03-01T10:02:00.000Z" : "2026-03-01T10:03:00.000Z"});
    const Trace trace = ReadFixture(file);
    if (rewound) {
      EXPECT_TRUE(trace.events.at(FindText(trace, "wrong way")).abandoned);
    }
  }
}

TEST(ReadersTest, OpenCodeBothForms) {
  for (const char* file : {"opencode.json", "opencode-events.txt"}) {
    ExpectTrace(FixtureFolder(), {file,
                                  TraceFormat::kOpenCode,
                                  1,
                                  1,
                                  {{"bash", 1}, {"skill", 1}, {"read", 1}},
                                  1,
                                  {50, 10, 3, 25},
                                  {"glm-x"},
                                  "2026-02-25T06:13:20.000Z",
                                  "2026-02-25T06:13:29.000Z"});
  }
}

TEST(ReadersTest, PiAndCopilotAndFastAgent) {
  ExpectTrace(FixtureFolder(), {"pi.jsonl",
                                TraceFormat::kPi,
                                1,
                                3,
                                {{"bash", 1}, {"bashExecution", 1}},
                                1,
                                {13, 7, 1, 8},
                                {"pi-m"},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:06:00.000Z",
                                0,
                                {"testing"}});
  const Trace trace = ReadFixture("pi.jsonl");
  EXPECT_TRUE(trace.events.at(FindText(trace, "abandoned idea")).abandoned);
  EXPECT_FALSE(trace.events.at(FindText(trace, "clean")).abandoned);
  ExpectTrace(FixtureFolder(), {"copilot.jsonl",
                                TraceFormat::kCopilot,
                                1,
                                2,
                                {{"shell", 1}},
                                1,
                                {100, 5, 0, 15},
                                {"gpt-c"},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:05:00.000Z",
                                1,
                                {"listing"}});
  ExpectTrace(FixtureFolder(),
              {"fast-agent.json", TraceFormat::kFastAgent, 1, 2, {{"fs__read", 1}}, 1, {30, 14, 4, 11}, {"fa-m"}});
}

TEST(ReadersTest, Benchmarks) {
  ExpectTrace(FixtureFolder(), {"atif-1.2.json",
                                TraceFormat::kAtif,
                                1,
                                2,
                                {{"sh", 2}},
                                1,
                                {60, 50, -1, 10},
                                {"m1"},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:04:00.000Z"});
  for (const char* file : {"inspect.json", "inspect-deflate.eval", "inspect-zstd.eval"}) {
    ExpectTrace(FixtureFolder(), {file,
                                  TraceFormat::kInspect,
                                  1,
                                  2,
                                  {{"bash", 1}},
                                  1,
                                  {30, 4, -1, 7},
                                  {"p/im"},
                                  "2026-03-01T10:00:00.500Z",
                                  "2026-03-01T10:00:09.000Z"});
    const Trace trace = ReadFixture(file);
    EXPECT_NE(FindText(trace, "the question"), kNoIndex);
    EXPECT_TRUE(trace.succeeded.value_or(false));
  }
  ExpectTrace(FixtureFolder(),
              {"swe-agent.traj", TraceFormat::kSweAgent, 1, 3, {{"action", 2}, {"submit", 1}}, 1, {1000, -1, -1, 50}});
  ExpectTrace(FixtureFolder(), {"swe-agent-demo.yaml", TraceFormat::kSweAgent, 1, 2, {{"bash", 1}, {"submit", 1}}, 1});
  ExpectTrace(FixtureFolder(), {"mini-swe-agent.json",
                                TraceFormat::kMiniSweAgent,
                                1,
                                2,
                                {{"bash", 2}},
                                1,
                                {90, 10, -1, 10},
                                {"mm"},
                                "2026-03-01T10:00:00.500Z",
                                "2026-03-01T10:00:02.000Z"});
}

// Every documented format has a fixture, and every fixture has its figures in a test.
TEST(ReadersTest, EveryFormatAndFixtureIsCovered) {
  std::string figures;
  for (const char* test : {"readers_test.cpp", "format_versions_test.cpp"}) {
    const Result<std::string> text = ReadFile(SourceDir() / "src/trace/load" / test);
    ASSERT_TRUE(text.ok());
    figures += *text;
  }
  std::set<TraceFormat> formats;
  for (const auto& entry : std::filesystem::directory_iterator(FixtureFolder())) {
    const std::string name = entry.path().filename().string();
    EXPECT_NE(figures.find("\"" + name + "\""), std::string::npos) << name;
    const Result<Trace> trace = ReadTrace(entry.path(), {});
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    formats.insert(trace->format);
  }
  for (const TraceFormat format : AllTraceFormats()) EXPECT_EQ(formats.count(format), 1U) << TraceFormatName(format);
}

TEST(ReadersTest, MessageLists) {
  ExpectTrace(FixtureFolder(), {"openai-messages.json",
                                TraceFormat::kOpenAiMessages,
                                1,
                                2,
                                {{"get_weather", 1}},
                                0,
                                {-1, -1, -1, -1},
                                {"gpt-o"}});
  ExpectTrace(FixtureFolder(),
              {"openai-finetuning.jsonl", TraceFormat::kOpenAiMessages, 2, 3, {{"get_weather", 1}}, 0});
  ExpectTrace(
      FixtureFolder(),
      {"openai-log.jsonl", TraceFormat::kOpenAiMessages, 1, 1, {{"get_weather", 1}}, 0, {18, 12, -1, 9}, {"gpt-o"}});
  ExpectTrace(FixtureFolder(), {"anthropic-messages.json",
                                TraceFormat::kAnthropicMessages,
                                1,
                                2,
                                {{"get_weather", 2}},
                                1,
                                {-1, -1, -1, -1},
                                {"claude-x"}});
  ExpectTrace(FixtureFolder(), {"hf-sts.jsonl",
                                TraceFormat::kHfSts,
                                1,
                                2,
                                {{"get_time", 1}},
                                0,
                                {-1, -1, -1, -1},
                                {"hm"},
                                "2026-03-01T10:00:00.000Z",
                                "2026-03-01T10:00:05.000Z"});
  // Results in a different order from the calls.
  const Trace trace = ReadFixture("anthropic-messages.json");
  const std::size_t down = FindText(trace, "down");
  ASSERT_NE(down, kNoIndex);
  EXPECT_NE(trace.events.at(trace.events.at(down).partner).text.find("Bern"), std::string::npos);
}

TEST(ReadersTest, MarkdownAndNotes) {
  ExpectTrace(FixtureFolder(), {"cursor.md", TraceFormat::kCursor, 2, 1, {}, 0});
  ExpectTrace(FixtureFolder(), {"specstory.md",
                                TraceFormat::kSpecStory,
                                2,
                                1,
                                {{"Bash", 1}},
                                1,
                                {-1, -1, -1, -1},
                                {"claude-x"},
                                "2026-02-10T21:49:42.000Z",
                                "2026-02-10T21:49:50.000Z",
                                1});
  ExpectTrace(FixtureFolder(), {"notes.md", TraceFormat::kNotes});
  ExpectTrace(FixtureFolder(), {"notes-chat.txt", TraceFormat::kNotes, 2, 1});
  const Trace trace = ReadFixture("cursor.md");
  EXPECT_NE(trace.events.at(1).text.find("and the answer goes on."), std::string::npos);
}

// Neither "**Result:**" nor a block for each command: the last block is the result.
TEST(ReadersTest, SpecStoryCallsWithBareResults) {
  const Trace trace = ReadFixture("specstory-2.1.md");
  std::vector<const Event*> calls;
  std::size_t errors = 0;
  for (const Event& event : trace.events) {
    if (event.kind == EventKind::kToolCall) calls.push_back(&event);
    if (event.kind == EventKind::kToolResult && event.status == CallStatus::kError) ++errors;
  }
  ASSERT_EQ(calls.size(), 8U);
  EXPECT_EQ(errors, 2U);
  const auto result = [&](std::size_t i) -> const Event& { return trace.events.at(calls.at(i)->partner); };
  EXPECT_EQ(calls[0]->command, "make count && echo \"it is `date`\"");
  EXPECT_EQ(result(0).status, CallStatus::kError);
  EXPECT_EQ(calls[1]->command, "cat > probe.py <<'EOF'\nprint(\"a `quoted` word\", \",\")\nEOF\npython3 probe.py");
  EXPECT_EQ(result(1).text, "a `quoted` word ,\n```\nnot the end");
  EXPECT_EQ(calls[2]->path, "./README.md");
  EXPECT_EQ(result(2).text, "1\t# Counter\n2\t```bash\n3\tmake\n4\t```");
  EXPECT_EQ(calls[3]->path, "/p/USAGE.md");
  EXPECT_EQ(calls[6]->path, "/p/Makefile");
  EXPECT_EQ(result(7).status, CallStatus::kOk);
  const std::vector<DigestItem> items = CollectFiles(trace, 0);
  const auto file = [&](std::string_view path) {
    const auto found = std::find_if(items.begin(), items.end(), [&](const DigestItem& item) {
      return std::get<FileDetail>(item.detail).path == path;
    });
    return found == items.end() ? FileDetail() : std::get<FileDetail>(found->detail);
  };
  EXPECT_TRUE(file("/p/USAGE.md").whole);
  EXPECT_EQ(file("/p/USAGE.md").content, "# Counter\n\n```bash\nmake \"count\"\n```\n\n```text\n3 counted\n```\n");
  EXPECT_FALSE(file("/p/Makefile").whole) << "the edit's text isn't in the export";
  EXPECT_EQ(file("/p/Makefile").content,
            "count:\n\tcc -o count count.c\n[above: before a later change that is not in the recording]\n");
}

TEST(TimestampTest, FormsAndDamage) {
  EXPECT_EQ(FormatTimestamp(ParseTimestamp("2026-03-01T05:00:00.5-05:00").value_or(0)), "2026-03-01T10:00:00.500Z");
  EXPECT_EQ(FormatTimestamp(ParseTimestamp("2026-03-01 10:00:00Z").value_or(0)), "2026-03-01T10:00:00.000Z");
  for (const char* damaged :
       {"", "[trimmed]", "2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T99:00:00Z"}) {
    EXPECT_FALSE(ParseTimestamp(damaged)) << damaged;
  }
}

}  // namespace
}  // namespace upskill
