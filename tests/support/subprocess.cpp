// SPDX-License-Identifier: Apache-2.0
#include "support/subprocess.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "util/invariant.h"
#include "util/spawn_settings.h"

namespace upskill {
namespace {

std::string Content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// Becomes the command.
[[noreturn]] void Exec(std::vector<std::string> command, const std::filesystem::path& folder) {
  std::vector<std::string> environment = {"HOME=/nonexistent", "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8",
                                          "COLUMNS=100", std::string("UPSKILL=") + UPSKILL_BINARY};
  if (::chdir(folder.c_str()) == 0)
    ::execve(command[0].c_str(), PointersTo(command).data(), PointersTo(environment).data());
  ::_exit(127);
}

pid_t Start(const std::vector<std::string>& command, const std::filesystem::path& folder, const std::string& out,
            const std::string& error) {
  const pid_t pid = ::fork();
  CHECK(pid >= 0);
  if (pid > 0) return pid;
  const int in_fd = ::open("/dev/null", O_RDONLY);
  const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int error_fd = ::open(error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::dup2(in_fd, 0);
  ::dup2(out_fd, 1);
  ::dup2(error_fd, 2);
  Exec(command, folder);
}

ProcessOutcome RunAndRead(const std::vector<std::string>& command, const std::filesystem::path& folder) {
  std::string scratch = (std::filesystem::temp_directory_path() / "upskill-output-XXXXXX").string();
  CHECK(::mkdtemp(scratch.data()) != nullptr);
  ProcessOutcome outcome;
  outcome.exit_code = WaitFor(Start(command, folder, scratch + "/out", scratch + "/error"));
  outcome.out = Content(scratch + "/out");
  outcome.error = Content(scratch + "/error");
  std::filesystem::remove_all(scratch);
  return outcome;
}

std::vector<std::string> WithBinary(const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {UPSKILL_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

}  // namespace

int WaitFor(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) CHECK(errno == EINTR);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

ProcessOutcome RunUpskill(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  return RunAndRead(WithBinary(arguments), folder);
}

ProcessOutcome RunShell(const std::string& command, const std::filesystem::path& folder) {
  return RunAndRead({"/bin/bash", "-c", command}, folder);
}

OnTerminal StartUpskillOnTerminal(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  int terminal = -1;
  const pid_t pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  CHECK(pid >= 0);
  if (pid == 0) Exec(WithBinary(arguments), folder);
  return {pid, Fd(terminal)};
}

pid_t StartUpskill(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  return Start(WithBinary(arguments), folder, "/dev/null", "/dev/null");
}

}  // namespace upskill
