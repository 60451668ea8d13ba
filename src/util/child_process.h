// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// The variable that marks a command's processes.
inline constexpr const char* kCommandMark = "UPSKILL_COMMAND_ID";

// A command of the user, run by /bin/sh in its own process group, with all processes that it starts: those that leave
// the group, such as daemons, are known by kCommandMark in their environment, unless they have
// cleared it or run as another user, and where there is /proc. This class owns the other ends of the command's three
// standard streams. It ends with this process, even if this process is killed. Move-only, not thread-safe. Not for
// commands from a model, a case or a skill.
class ChildProcess {
 public:
  // `environment`: NAME=VALUE (util/child_environment.h).
  static Result<ChildProcess> Start(const std::string& command, std::vector<std::string> environment);
  ~ChildProcess() { End(std::chrono::milliseconds(0)); }
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&&) = delete;
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // A socket, so that send(2) with MSG_NOSIGNAL reports that the child has exited. Never blocks.
  int input() const { return input_.get(); }
  int output() const { return output_.get(); }
  int error() const { return error_.get(); }

  // Whether the command itself has exited; what it has started may still run.
  bool HasExited() const;

  // Closes the command's standard input and waits for it to exit; after `grace` the whole group gets SIGTERM, and half
  // a second later SIGKILL. What a command that has exited leaves behind is ended in the same way, at once.
  // Returns the exit code, or 128 + signal if it was killed. A second call returns the same
  // code.
  int End(std::chrono::milliseconds grace);

 private:
  ChildProcess(pid_t pid, std::string mark, Fd input, Fd output, Fd error, Fd alive)
      : pid_(pid),
        mark_(std::move(mark)),
        input_(std::move(input)),
        output_(std::move(output)),
        error_(std::move(error)),
        alive_(std::move(alive)) {}
  bool WaitedFor(std::chrono::milliseconds limit);

  pid_t pid_;         // -1: exited
  std::string mark_;  // NAME=VALUE, in the environment of all its processes
  int code_ = -1;
  Fd input_;
  Fd output_;
  Fd error_;
  Fd alive_;  // the watcher's pipe: closing it ends the group
};

}  // namespace upskill
