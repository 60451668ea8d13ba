// SPDX-License-Identifier: Apache-2.0
#include "llama/worker_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "util/child_environment.h"
#include "util/log.h"
#include "util/spawn_settings.h"
#include "util/text.h"

namespace upskill {
namespace {

constexpr std::size_t kKeptErrorBytes = 8192;
constexpr std::size_t kShownColumns = 200;

// What llama.cpp, a GPU's driver and sanitizers read, but no keys.
std::vector<std::string> WorkerEnvironment() {
  const std::vector<std::string> variables =
      ChildEnvironment({"ASAN_OPTIONS", "CUDA_*", "GGML_*", "LD_LIBRARY_PATH", "LSAN_OPTIONS", "NVIDIA_*",
                        "TSAN_OPTIONS", "UBSAN_OPTIONS", "UPSKILL_ENGINE_DIR"});
  // The weights in large pages, if the system gives them to those who ask: each token of an answer reads them all, and
  // looking up pages of 4 kB took more time than reading them (bench/README.md).
  const std::vector<std::string> large = WithVariable(variables, "GLIBC_TUNABLES", "glibc.malloc.hugetlb=1");
  return WithVariable(large, "GGML_NO_BACKTRACE", "1");  // an abort of ggml would start a debugger
}

bool MakeNonBlocking(int fd) { return ::fcntl(fd, F_SETFL, O_NONBLOCK) == 0; }

}  // namespace

Result<WorkerProcess> WorkerProcess::Start(const std::filesystem::path& program, const std::filesystem::path& model) {
  const auto failed = [&](int error_number) {
    return ErrnoError("starting the worker process", program, error_number);
  };
  std::array<int, 2> sockets{-1, -1};
  std::array<int, 2> errors{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) return failed(errno);
  Fd socket(sockets[0]);
  const Fd child_socket(sockets[1]);
  if (::pipe2(errors.data(), O_CLOEXEC) != 0) return failed(errno);
  Fd error(errors[0]);
  const Fd child_error(errors[1]);
  if (!MakeNonBlocking(socket.get()) || !MakeNonBlocking(error.get())) return failed(errno);

  SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&settings.actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, child_error.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, child_socket.get(), kWorkerSocket);
  // Signals that ask the program to finish its requests must not end the worker that answers them. It stays in the
  // program's process group, so that Ctrl-Z stops both.
  settings.SetSignals({SIGHUP, SIGINT, SIGTERM}, {SIGPIPE, SIGHUP, SIGINT, SIGTERM, SIGCHLD});
  std::vector<std::string> words = {"upskill", kWorkerArgument, model.string()};
  std::vector<std::string> variables = WorkerEnvironment();
  pid_t pid = -1;
  if (const int code = ::posix_spawn(&pid, program.c_str(), &settings.actions, &settings.attributes,
                                     PointersTo(words).data(), PointersTo(variables).data());
      code != 0) {
    return failed(code);
  }
  return WorkerProcess(pid, std::move(socket), std::move(error));
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::move(other.socket_)),
      error_(std::move(other.error_)),
      error_tail_(std::move(other.error_tail_)),
      ending_(std::move(other.ending_)) {}

bool WorkerProcess::ReadErrors() {
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t got = ::read(error_.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (got <= 0) return false;
    const std::string_view text(block.data(), static_cast<std::size_t>(got));
    Log("llama.cpp", text);
    error_tail_ += text;
    if (error_tail_.size() > kKeptErrorBytes) error_tail_.erase(0, error_tail_.size() - kKeptErrorBytes);
  }
}

std::string WorkerProcess::LastLine() const {
  const std::string_view text = Trim(error_tail_);
  const std::size_t newline = text.rfind('\n');
  return ExcerptLine(newline == std::string_view::npos ? text : Trim(text.substr(newline)), kShownColumns);
}

std::string WorkerProcess::End() {
  if (pid_ < 0) return ending_;
  ::kill(pid_, SIGKILL);  // changes nothing about how it ended if it is dead already
  int status = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  pid_ = -1;
  ReadErrors();
  if (waited < 0) {
    ending_ = "an unknown cause";
  } else if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    const char* const name = ::sigdescr_np(signal);
    ending_ = fmt::format("signal {} ({}{})", signal, name == nullptr ? "unknown" : name,
                          signal == SIGKILL ? ", perhaps for lack of memory" : "");
  } else {
    ending_ = fmt::format("exit code {}", WEXITSTATUS(status));
  }
  if (const std::string line = LastLine(); !line.empty()) ending_ += fmt::format(": {}", line);
  return ending_;
}

}  // namespace upskill
