// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "util/files.h"

namespace upskill {

struct ProcessOutcome {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string error;
};

// Runs the real binary with these arguments in `folder`, with its own environment (the machine's user configuration
// isn't visible), and waits for it to exit.
ProcessOutcome RunUpskill(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// Runs a shell command in the same environment; "$UPSKILL" is the binary.
ProcessOutcome RunShell(const std::string& command, const std::filesystem::path& folder);

// Starts the binary without waiting; its output goes to /dev/null. The caller waits for the PID.
pid_t StartUpskill(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// The same with a new terminal as its controlling one and for all of its streams. Closing the terminal hangs it up.
struct OnTerminal {
  pid_t pid = -1;
  Fd terminal;
};
OnTerminal StartUpskillOnTerminal(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// Waits for a started binary and returns its exit code, or 128 + signal if it was killed.
int WaitFor(pid_t pid);

}  // namespace upskill
