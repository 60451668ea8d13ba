// SPDX-License-Identifier: Apache-2.0
#include "support/trace_expectation.h"

#include <gtest/gtest.h>

#include <utility>

#include "trace/load/read_trace.h"

namespace upskill {

void ExpectTrace(const std::filesystem::path& folder, const TraceExpectation& expected) {
  SCOPED_TRACE(expected.file);
  const Result<Trace> trace = ReadTrace(folder / expected.file, {});
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_STREQ(TraceFormatName(trace->format), TraceFormatName(expected.format));
  const TraceCounts counts = CountTrace(*trace);
  EXPECT_EQ(counts.human_turns, expected.human_turns);
  EXPECT_EQ(counts.assistant_messages, expected.assistant_messages);
  EXPECT_EQ(counts.tool_calls_by_name, expected.calls);
  EXPECT_EQ(counts.tool_errors, expected.errors);
  const std::vector<long long> tokens = {counts.tokens.input.value_or(-1), counts.tokens.cache_read.value_or(-1),
                                         counts.tokens.cache_write.value_or(-1), counts.tokens.output.value_or(-1)};
  EXPECT_EQ(tokens, expected.tokens);
  EXPECT_EQ(trace->models, expected.models);
  EXPECT_EQ(trace->first_ms ? FormatTimestamp(*trace->first_ms) : "", expected.first);
  EXPECT_EQ(trace->last_ms ? FormatTimestamp(*trace->last_ms) : "", expected.last);
  EXPECT_EQ(counts.subagents, expected.subagents);
  EXPECT_EQ(counts.skills_used, expected.skills);
  EXPECT_EQ(counts.unknown_records, expected.unknown_records);
  EXPECT_TRUE(trace->problems.empty());
}

Trace ReadFixture(const std::string& name) {
  Result<Trace> trace = ReadTrace(FixtureFolder() / name, {});
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.ok() ? std::move(*trace) : Trace{};
}

std::size_t FindText(const Trace& trace, const std::string& text) {
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    if (trace.events[i].text.find(text) != std::string::npos) return i;
  }
  return kNoIndex;
}

}  // namespace upskill
