// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/source_dir.h"
#include "trace/trace.h"

namespace upskill {

// Figures of one trace. Tokens: input (uncached), cache read, cache write, output; -1 means unknown.
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

// Reads the file and compares it, with gtest's EXPECT_*.
void ExpectTrace(const std::filesystem::path& folder, const TraceExpectation& expected);

inline std::filesystem::path FixtureFolder() { return SourceDir() / "tests" / "fixtures" / "traces"; }

// A trace in that folder; an empty one, with a test failure, if it can't be read.
Trace ReadFixture(const std::string& name);

// The first event whose text contains `text`; kNoIndex if there is none.
std::size_t FindText(const Trace& trace, const std::string& text);

}  // namespace upskill
