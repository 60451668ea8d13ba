// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

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

// "squeue failed with exit code 1: …"
Error ToolError(const std::vector<std::string>& words, const JobToolOutcome& outcome);

}  // namespace upskill
