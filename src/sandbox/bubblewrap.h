// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"

namespace upskill {

// File descriptors that the sandboxed program is started with, besides the standard streams; of one digit, for the
// shell.
inline constexpr int kFilterFd = 3;        // the program for seccomp(2)
inline constexpr int kStatusFd = 4;        // bubblewrap's reports in JSON
inline constexpr int kFilesFd = 6;         // takes the workspace's content as a tar file (SandboxCommand::collect)
inline constexpr int kReadyFd = 7;         // at its end, the command may start: its port is served
inline constexpr int kFirstSettingFd = 8;  // the contents of SandboxCommand::settings, in order of their names

inline constexpr const char* kWorkspace = "/workspace";
// All that commands can write to, each a file system in memory.
inline constexpr std::array<const char*, 3> kWritableFolders = {kWorkspace, "/tmp", "/dev/shm"};

// The folders of PATH in the sandbox: each toolchain's and its `bin`, then the system's.
std::vector<std::string> SearchedFolders(const SandboxOptions& options);

// The words of a command line that unpacks a tar file from standard input into the workspace and runs the command
// there; with SandboxCommand::collect, what the workspace contains then is written to kFilesFd. `drop_root`: as the
// user nobody, for a process that is root.
std::vector<std::string> ConfinedCommandLine(const SandboxOptions& options, const SandboxCommand& command, bool filter,
                                             bool drop_root);

}  // namespace upskill
