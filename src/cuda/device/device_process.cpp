// SPDX-License-Identifier: Apache-2.0
#include "cuda/device/device_process.h"

#include <cuda_runtime/wire.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/device/device_report.h"
#include "cuda/device/device_session.h"
#include "cuda/device/device_task.h"
#include "util/files.h"
#include "util/json.h"

namespace upskill {
namespace {

constexpr int kSocketOfProgram = 3;
constexpr std::size_t kMaxShown = std::size_t{1} << 20U;  // of each stream of the program
constexpr int kFailedToRun = 1;

// A file without a name, for what the program prints.
Result<Fd> UnnamedFile() {
  std::string name = "/tmp/upskill-output-XXXXXX";
  Fd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.valid()) return ErrnoError("making", name, errno);
  ::unlink(name.c_str());
  return file;
}

// `cut` becomes true if there is more.
std::string ContentOf(const Fd& file, bool& cut) {
  std::string content(kMaxShown + 1, '\0');
  const ssize_t got = ::pread(file.get(), content.data(), content.size(), 0);
  cut = cut || got > static_cast<ssize_t>(kMaxShown);
  content.resize(std::min(got > 0 ? static_cast<std::size_t>(got) : 0, kMaxShown));
  return content;
}

bool ReadFully(int fd, void* into, std::size_t size) {
  auto* at = static_cast<char*>(into);
  while (size > 0) {
    const ssize_t got = Uninterrupted([&] { return ::read(fd, at, size); });
    if (got <= 0) return false;
    at += got;
    size -= static_cast<std::size_t>(got);
  }
  return true;
}

bool SendFully(int fd, const void* from, std::size_t size) {
  const auto* at = static_cast<const char*>(from);
  while (size > 0) {
    const ssize_t sent = Uninterrupted([&] { return ::send(fd, at, size, MSG_NOSIGNAL); });
    if (sent <= 0) return false;
    at += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Watching each byte of the device takes several bytes of this machine, which may not have them.
DeviceReply AnswerOf(DeviceSession& session, const UpskillRequest& request, const std::string& bytes) {
  try {
    return session.Answer(request, bytes);
  } catch (const std::bad_alloc&) {
    return session.OutOfMemory();
  }
}

// Until the program closes its end, or sends what isn't a request.
void AnswerAll(int socket, DeviceSession& session) {
  UpskillRequest request{};
  while (ReadFully(socket, &request, sizeof(request)) && request.bytes <= kUpskillMaxMessage) {
    std::string bytes(request.bytes, '\0');
    if (!ReadFully(socket, bytes.data(), bytes.size())) return;
    const DeviceReply answer = AnswerOf(session, request, bytes);
    UpskillReply reply{};
    reply.error = answer.error;
    for (std::size_t i = 0; i < std::size(reply.r); ++i) reply.r[i] = answer.r[i];
    reply.bytes = answer.bytes.size();
    if (!SendFully(socket, &reply, sizeof(reply)) || !SendFully(socket, answer.bytes.data(), answer.bytes.size()))
      return;
  }
}

struct Started {
  pid_t pid = -1;
  Fd socket;
  Fd output;
  Fd error;
};

Result<Started> StartProgram(std::vector<std::string> words) {
  Started started;
  ASSIGN_OR_RETURN(started.output, UnnamedFile());
  ASSIGN_OR_RETURN(started.error, UnnamedFile());
  std::array<int, 2> ends{-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return ErrnoError("starting", words.front(), errno);
  started.socket = Fd(ends[0]);
  const Fd of_program(::fcntl(ends[1], F_DUPFD_CLOEXEC, 16));  // above those that the program gets
  ::close(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, started.output.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, started.error.get(), STDERR_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, of_program.get(), kSocketOfProgram);
  ::setenv(UPSKILL_DEVICE_SOCKET, std::to_string(kSocketOfProgram).c_str(), 1);
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const int code = ::posix_spawn(&started.pid, words.front().c_str(), &actions, nullptr, pointers.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (code != 0) return ErrnoError("starting", words.front(), code);
  return started;
}

// As the first process of a name space, it is also told of others' children.
int ExitCodeOf(pid_t pid) {
  constexpr int kSignal = 128;
  int status = 0;
  for (pid_t ended = 0; ended != pid;) {
    ended = Uninterrupted([&] { return ::waitpid(-1, &status, 0); });
    if (ended < 0) return -1;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignal + WTERMSIG(status);
}

Result<DeviceTask> TakeTask(const std::string& file) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, std::uint64_t{1} << 30U));
  if (::unlink(file.c_str()) != 0) return ErrnoError("removing", file, errno);
  JsonLimits limits;
  limits.bytes = std::size_t{1} << 30U;
  limits.string_bytes = std::size_t{512} << 20U;
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, "the task", limits));
  return TaskFromJson(json);
}

Result<DeviceReport> RunTask(const std::string& file) {
  ASSIGN_OR_RETURN(DeviceTask task, TakeTask(file));
  std::vector<std::string> words = task.program;
  DeviceSession session(std::move(task));
  ASSIGN_OR_RETURN(const Started started, StartProgram(std::move(words)));
  AnswerAll(started.socket.get(), session);
  // A program that sent what isn't a request learns that nobody listens.
  ::shutdown(started.socket.get(), SHUT_RDWR);
  DeviceReport report = session.Finish();
  report.exit_code = ExitCodeOf(started.pid);
  report.output = ContentOf(started.output, report.output_cut);
  report.error = ContentOf(started.error, report.output_cut);
  return report;
}

}  // namespace

int RunDevice(const std::string& task_file) {
  // The program has the same user, but must not look into this process.
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return kFailedToRun;
  ::signal(SIGPIPE, SIG_IGN);
  const Result<DeviceReport> report = RunTask(task_file);
  if (!report) {
    fmt::print(stderr, "{}\n", report.error().message);
    return kFailedToRun;
  }
  fmt::print("{}\n", DumpJson(ReportToJson(*report)));
  std::fflush(stdout);
  return 0;
}

}  // namespace upskill
