// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

inline constexpr std::chrono::minutes kTransferLimit{30};  // for copying what a job reads or has written

struct JobToolOutcome {
  int exit_code = 0;
  std::string output;
  std::string error;  // the end of its standard error
};

// Runs a command-line tool of an engine with this process's whole environment: what it starts elsewhere needs the same
// keys. `input` is its standard input. Bounded in time and output; it isn't interrupted by Ctrl-C.
// Error (kUnavailable): it took too long or printed too much. Error (kNotFound): there is no such program.
Result<JobToolOutcome> RunTool(const std::vector<std::string>& words, std::string_view input = "",
                               std::chrono::seconds limit = std::chrono::seconds(60));

// "squeue failed with exit code 1: …" (kUnavailable), for tools that ask.
Error ToolError(const std::vector<std::string>& words, const JobToolOutcome& outcome);

// A ToolError of a tool that was to start something: kPermanent, unless its words are about its service being out of
// reach.
Error RefusedByTool(const std::vector<std::string>& words, const JobToolOutcome& outcome);

// The JSON that a tool printed. Error (kUnavailable): it is cut off, damaged or too large.
Result<Json> ToolJson(std::string_view output, const std::string& tool);

}  // namespace upskill
