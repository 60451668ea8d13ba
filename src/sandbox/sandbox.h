// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "util/files.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// What one command may use.
struct SandboxLimits {
  std::chrono::milliseconds time{60'000};
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;  // of all its processes together
  std::uint64_t disk_bytes = std::uint64_t{1} << 30U;    // the workspace; as much again in /tmp
  int processes = 256;                                   // and threads
  std::uint64_t files = 200'000;                         // in the workspace, /tmp and /dev/shm together
  std::size_t output_bytes = std::size_t{1} << 20U;      // of standard output, and of standard error
};

// How much of a workspace is handed back.
struct CollectLimits {
  std::size_t bytes = std::size_t{8} << 20U;  // of all files together
  std::size_t files = 2'000;                  // and empty folders
};

struct SandboxCommand {
  std::string command;  // for `sh -c`, in the workspace
  // What the workspace contains: relative paths that stay in it. A name that ends in `/` is a folder.
  std::map<std::string, std::string> files;
  std::vector<std::string> variables;           // NAME=VALUE, besides PATH, HOME, LANG and TMPDIR
  std::map<std::string, std::string> settings;  // files of /etc by their names
  SandboxLimits limits;
  const StopFlag* stop = nullptr;
  int stop_at = 2;                       // this value of `stop`, or a higher one, ends it
  std::optional<CollectLimits> collect;  // hand back what the workspace contains afterwards
  // A port of 127.0.0.1 in the sandbox's own network that is served by this process: before the command starts, `serve`
  // gets the socket that listens there (again, if a failed start is repeated). 0: none. Only for a confined command.
  int served_port = 0;
  std::function<void(Fd)> serve = nullptr;
  // A file of this machine that the command finds, executable, under the path in kProgramVariable.
  std::filesystem::path program;
  // The shell that runs the command is the first process of the sandbox, so that no other process there has its
  // standard streams, or the files that it was given. It must wait for all that it starts.
  bool first_process = false;
};

inline constexpr const char* kProgramVariable = "UPSKILL_PROGRAM";

struct SandboxOutcome {
  enum class Ending { kExited, kTimeLimit, kMemoryLimit, kProcessLimit, kFileLimit, kOutputLimit, kStopped };
  Ending ending = Ending::kExited;
  int exit_code = -1;  // of kExited; 128 + signal if a signal ended it
  std::string output;  // as printed: any bytes
  std::string error;
  double seconds = 0.0;
  // With SandboxCommand::collect, what the workspace contains, in the form of SandboxCommand::files; empty folders are
  // named, too. Links, devices and names that can't be stored are left out. Absent: a limit ended the command, or there
  // is more than CollectLimits (`too_much`).
  std::optional<std::map<std::string, std::string>> files;
  std::size_t left_out = 0;
  bool too_much = false;
};

// How commands that come from a suite or a model are run.
struct SandboxOptions {
  bool confined = true;                           // false only if the user has asked for it explicitly
  std::vector<std::filesystem::path> toolchains;  // folders that commands can read besides the system's
  std::string program = "bwrap";                  // bubblewrap
};

// Runs commands that nobody vouches for, by bubblewrap: without network, in new name spaces, with the system's folders
// and the toolchains to read, a workspace and a /tmp in memory, an environment of five variables, limits, and a filter
// of system calls. All of a command's processes have ended when Run returns. As root, commands run as the user nobody.
// Thread-safe.
class Sandbox {
 public:
  explicit Sandbox(SandboxOptions options);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Whether commands can run here, found out once by running `true`. Error: why not, and what to do.
  Status Available() const;
  // The names of programs that commands find in its PATH.
  bool HasProgram(const std::string& name) const;
  // The first toolchain's folder that contains this file, a relative path: commands find it under the same path.
  std::optional<std::filesystem::path> ToolchainWith(const std::string& file) const;
  bool confined() const;

  // Errors: those of Available(), and those of the system on starting it.
  Result<SandboxOutcome> Run(const SandboxCommand& command) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Why a sandbox's commands can't read this folder; empty if they can, or if it doesn't exist yet.
std::string WhyCommandsCantRead(const std::filesystem::path& folder);

// A sandbox with the options of a user who has set none.
const Sandbox& DefaultSandbox();

}  // namespace upskill
