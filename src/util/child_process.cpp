// SPDX-License-Identifier: Apache-2.0
#include "util/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "util/spawn_settings.h"

namespace upskill {
namespace {

using std::chrono::milliseconds;
using Pair = std::array<int, 2>;

// $1: the command, $2: its mark. Runs the command and, in the same process group, a watcher that ends the group and
// what has left it when this process has exited, even if it was killed: nothing is ever written to the pipe at file
// descriptor 3, and reading it returns when its only writer is gone. The watcher's parent exits at once, so that the
// command has no child that it didn't start. The mark is set last: the watcher must not find itself.
constexpr int kWatchedFd = 3;
constexpr const char* kWatchAndRun = R"(
end() {
  for file in $(grep -lsF "$2" /proc/[0-9]*/environ); do file=${file%/environ}; kill "-$1" "${file#/proc/}"; done
  kill "-$1" 0
}
( (read -r line; trap '' TERM; end TERM "$2"; sleep 1; end KILL "$2") <&3 3<&- >/dev/null 2>&1 & )
export "$2"
exec 3<&-
exec /bin/sh -c "$1")";

// Names the command in the environment of whatever it starts: a process may leave its group and its parent (setsid, a
// daemon), but it passes its environment on.
std::string NewMark() {
  std::random_device random;
  return fmt::format("{}={:08x}{:08x}", kCommandMark, random(), random());
}

// The beginning of a file of /proc; empty: it can't be read.
std::string StartOfFile(const std::string& path, std::size_t most) {
  std::string text;
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 16384> buffer{};
  while (fd.get() >= 0 && text.size() < most) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

// The processes that have the mark in their environment. Those of other users can't be read; they are left out.
std::vector<pid_t> ProcessesWith(const std::string& mark) {
  constexpr std::size_t kMostEnvironment = std::size_t{4} << 20U;
  std::vector<pid_t> found;
  std::error_code code;
  for (std::filesystem::directory_iterator entry("/proc", code), end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto [rest, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (problem != std::errc() || rest != name.data() + name.size()) continue;
    const std::string variables = '\0' + StartOfFile("/proc/" + name + "/environ", kMostEnvironment);
    if (variables.find('\0' + mark + '\0') != std::string::npos) found.push_back(pid);
  }
  return found;
}

// Ends the processes that the command has started and that have left its group: SIGTERM, a tenth of a second later
// SIGKILL, until there are none.
void EndMarked(const std::string& mark) {
  constexpr int kLooks = 20;
  constexpr int kKillFrom = 10;
  constexpr milliseconds kStep{10};
  for (int look = 0; look < kLooks; ++look) {
    const std::vector<pid_t> found = ProcessesWith(mark);
    if (found.empty()) return;
    for (const pid_t pid : found) {
      if (look == 0 || look >= kKillFrom) ::kill(pid, look < kKillFrom ? SIGTERM : SIGKILL);
    }
    std::this_thread::sleep_for(kStep);
  }
}

// Waits a little for a group, named as for kill(2), that has got SIGTERM and whose leader is gone, then kills it.
// Members that have ended but that no parent has waited for count as running: hence the short limit.
void EndRest(pid_t group) {
  constexpr milliseconds kLimit{100};
  constexpr milliseconds kStep{2};
  for (milliseconds waited{0}; waited < kLimit; waited += kStep) {
    if (::kill(group, 0) != 0) return;
    std::this_thread::sleep_for(kStep);
  }
  ::kill(group, SIGKILL);
}

}  // namespace

Result<ChildProcess> ChildProcess::Start(const std::string& command, std::vector<std::string> environment) {
  Pair in{-1, -1};
  Pair out{-1, -1};
  Pair err{-1, -1};
  Pair watched{-1, -1};
  const auto failed = [](int error_number) { return ErrnoError("starting", "/bin/sh", error_number); };
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in.data()) != 0) return failed(errno);
  Fd input(in[0]);
  const Fd child_input(in[1]);
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return failed(errno);
  Fd output(out[0]);
  const Fd child_output(out[1]);
  if (::pipe2(err.data(), O_CLOEXEC) != 0) return failed(errno);
  Fd error(err[0]);
  const Fd child_error(err[1]);
  if (::pipe2(watched.data(), O_CLOEXEC) != 0) return failed(errno);
  const Fd child_watched(watched[0]);
  Fd alive(watched[1]);
  for (const int fd : {input.get(), output.get(), error.get()}) {
    if (::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return failed(errno);
  }

  SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.actions, child_input.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, child_output.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, child_error.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, child_watched.get(), kWatchedFd);
  settings.SetSignals({}, {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM});
  settings.LeadGroup();
  std::string mark = NewMark();
  std::vector<std::string> words = {"sh", "-c", kWatchAndRun, "sh", command, mark};
  pid_t pid = -1;
  if (const int code = ::posix_spawn(&pid, "/bin/sh", &settings.actions, &settings.attributes, PointersTo(words).data(),
                                     PointersTo(environment).data());
      code != 0)
    return failed(code);
  return ChildProcess(pid, std::move(mark), std::move(input), std::move(output), std::move(error), std::move(alive));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      mark_(std::move(other.mark_)),
      code_(other.code_),
      input_(std::move(other.input_)),
      output_(std::move(other.output_)),
      error_(std::move(other.error_)),
      alive_(std::move(other.alive_)) {}

bool ChildProcess::WaitedFor(milliseconds limit) {
  constexpr milliseconds kStep{10};
  for (milliseconds waited{0};; waited += kStep) {
    int status = 0;
    const pid_t got = ::waitpid(pid_, &status, WNOHANG);
    if (got == pid_ || (got < 0 && errno != EINTR)) {
      code_ = got == pid_ ? WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status) : -1;
      return true;
    }
    if (waited >= limit) return false;
    std::this_thread::sleep_for(kStep);
  }
}

bool ChildProcess::HasExited() const {
  if (pid_ < 0) return true;
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

int ChildProcess::End(milliseconds grace) {
  if (pid_ < 0) return code_;
  constexpr milliseconds kGrace{500};
  input_.Close();
  const bool ended = WaitedFor(grace);
  // The group may still have members after its leader has exited: the watcher, and others that may ignore SIGTERM.
  ::kill(-pid_, SIGTERM);
  if (ended || WaitedFor(kGrace)) {
    EndRest(-pid_);
  } else {
    ::kill(-pid_, SIGKILL);
    WaitedFor(std::chrono::hours(1));
  }
  EndMarked(mark_);
  pid_ = -1;
  return code_;
}

}  // namespace upskill
