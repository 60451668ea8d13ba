// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace upskill {

// Figures of one trace, for tests. Tokens: input (uncached), cache read, cache write, output; -1 means unknown.
struct TraceExpectation {
  std::string file;
  TraceFormat format = TraceFormat::kNotes;
  std::size_t human_turns = 0;
  std::size_t assistant_messages = 0;
  std::map<std::string, std::size_t> calls = {};
  std::size_t errors = 0;
  std::vector<long long> tokens = {-1, -1, -1, -1};
  std::vector<std::string> models = {};
  std::string first = {};
  std::string last = {};
  std::size_t subagents = 0;
  std::vector<std::string> skills = {};
  std::size_t unknown_records = 0;
};

// Reads the file and compares, with gtest's EXPECT_*.
void ExpectTrace(const std::filesystem::path& folder, const TraceExpectation& expected);

inline std::filesystem::path FixtureFolder() {
  return std::filesystem::path(UPSKILL_SOURCE_DIR) / "tests" / "fixtures" / "traces";
}

// A trace of that folder; an empty one, with a failure, where it can't be read.
Trace ReadFixture(const std::string& name);

// The first event whose text holds `text`; kNoIndex for none.
std::size_t FindText(const Trace& trace, const std::string& text);

}  // namespace upskill
