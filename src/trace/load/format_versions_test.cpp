// SPDX-License-Identifier: Apache-2.0
// Older, newer and rarer forms of formats whose usual form is in readers_test.cpp.
#include <gtest/gtest.h>

#include "support/trace_expectation.h"

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

}  // namespace
}  // namespace upskill
