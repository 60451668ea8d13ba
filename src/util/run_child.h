// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

struct ChildLimits {
  std::chrono::milliseconds time{0};
  std::size_t output_bytes = 0;
  std::function<bool()> stopped;               // asked about ten times a second; empty: never
  std::chrono::milliseconds exit_grace{2000};  // between the end of its output and its exit, in either order
  std::size_t error_bytes = 4096;              // of the end of its standard error that are kept
  std::optional<std::size_t> most_error_bytes = std::nullopt;  // more on its standard error is kOutputLimit
  bool until_exit = false;  // its exit alone ends it: not the end of its output, nor what it has left behind
};

struct ChildOutcome {
  enum class Ending { kExited, kTimeLimit, kOutputLimit, kStopped };
  Ending ending = Ending::kExited;
  int exit_code = -1;  // 128 + signal if a signal ended it; what it means depends on `ending`
  std::string output;
  std::string error_tail;  // the end of its standard error
};

// Runs a command of the user (ChildProcess) with `input` as its standard input and collects what it prints, until it
// has exited and its standard output is closed; what it has started and left behind may keep that open for
// `exit_grace`, and it may run on for as long after closing that, unless `until_exit` is set. At a limit its whole
// process group is ended. Error: it can't be started.
Result<ChildOutcome> RunChild(const std::string& command, std::vector<std::string> environment, std::string_view input,
                              const ChildLimits& limits);

}  // namespace upskill
