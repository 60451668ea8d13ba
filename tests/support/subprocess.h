// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace upskill {

struct ProcessOutcome {
  int exit_code = -1;  // 128 + signal when it was killed
  std::string out;
  std::string error;
};

// The real binary with these arguments, in `folder`, with an environment of its own (no configuration of the machine's
// user is seen). Waits for its end.
ProcessOutcome RunUpskill(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// A command for the shell in the same environment; "$UPSKILL" is the binary.
ProcessOutcome RunShell(const std::string& command, const std::filesystem::path& folder);

// Starts the binary without waiting; its output goes to /dev/null. The caller waits for the pid.
pid_t StartUpskill(const std::vector<std::string>& arguments, const std::filesystem::path& folder);

// Exit code of a started binary, 128 + signal when it was killed.
int WaitFor(pid_t pid);

}  // namespace upskill
