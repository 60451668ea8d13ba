// SPDX-License-Identifier: Apache-2.0
#include "sandbox/confined_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "sandbox/bubblewrap.h"
#include "sandbox/served_port.h"
#include "util/json.h"
#include "util/spawn_settings.h"

namespace upskill {
namespace {

// What a process and all that it has started use together.
struct TreeUse {
  std::uint64_t memory_bytes = 0;  // in use, without files that are mapped
  std::size_t processes = 0;
};

// What statm says of a process, in bytes.
struct ResidentMemory {
  std::uint64_t all = 0;
  std::uint64_t own = 0;  // without mapped files and shared memory
};

ResidentMemory ResidentMemoryOf(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (!(file >> size >> resident >> shared) || shared > resident) return {};
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return {resident * page, (resident - shared) * page};
}

// The process's share of the memory that it and others use, without mapped files; nothing if the kernel doesn't tell.
std::optional<std::uint64_t> ProportionalMemory(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", process));
  std::optional<std::uint64_t> bytes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kilobytes = 0;
    if ((words >> name >> kilobytes) && (name == "Pss_Anon:" || name == "Pss_Shmem:"))
      bytes = bytes.value_or(0) + kilobytes * 1024;
  }
  return bytes;
}

// The processes that `process` has started and that are still there.
std::vector<pid_t> ChildrenOf(pid_t process) {
  std::vector<pid_t> children;
  std::error_code code;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", process);
  for (std::filesystem::directory_iterator task(tasks, code), end; !code && task != end; task.increment(code)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child = 0; file >> child;) children.push_back(child);
  }
  return children;
}

// Looks at no more than `most` processes. Zeros where /proc doesn't name the children of processes. Memory that several
// processes share counts once (their proportional shares, PSS) if the total is above `exact_above` without that; else
// the total may be larger than what is in use.
TreeUse UseOfProcessTree(pid_t root, std::size_t most, std::uint64_t exact_above) {
  TreeUse use;
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size() && i < most; ++i) {
    use.memory_bytes += ResidentMemoryOf(found[i]).all;
    const std::vector<pid_t> children = ChildrenOf(found[i]);
    found.insert(found.end(), children.begin(), children.end());
  }
  use.processes = found.size();
  if (use.memory_bytes <= exact_above) return use;
  use.memory_bytes = 0;
  for (std::size_t i = 0; i < found.size() && i < most; ++i)
    use.memory_bytes += ProportionalMemory(found[i]).value_or(ResidentMemoryOf(found[i]).own);
  return use;
}

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* kStarting = "starting";
// Above all descriptors that the child gets, so that placing one doesn't overwrite another's source.
constexpr int kFirstSourceFd = 64;

// Runs bubblewrap and, in the same process group, a watcher that kills the group when this process is gone, even if it
// was killed: nothing is ever written to the pipe at kWatchedFd, and reading it returns when its only writer has ended.
// The first process of the sandbox is in this group for its whole life, and with it the kernel ends all others. What
// bubblewrap offers is not enough: where it ends while it makes a sandbox, killed or because nobody reads its reports,
// that first process waits for ever or runs the command.
constexpr int kWatchedFd = kStatusFd + 1;
static_assert(kFilesFd == kWatchedFd + 1 && kReadyFd == kFilesFd + 1 && kFirstSettingFd == kReadyFd + 1);
constexpr const char* kWatchAndRun = R"(
(read -r line; kill -KILL 0) <&5 >/dev/null 2>&1 3<&- 4>&- 5<&- 6>&- 7<&- &
watcher=$!
"$@" 5<&-
exec 2>/dev/null 6>&-
kill -KILL "$watcher"
wait "$watcher"
kill -KILL 0)";

struct Pipe {
  Fd read;
  Fd write;
};

Result<Fd> Raised(int fd) {
  Fd raised(::fcntl(fd, F_DUPFD_CLOEXEC, kFirstSourceFd));
  if (!raised.valid()) return ErrnoError(kStarting, "a sandbox", errno);
  return raised;
}

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return ErrnoError(kStarting, "a sandbox", errno);
  Pipe pipe{Fd(ends[0]), Fd(ends[1])};
  ASSIGN_OR_RETURN(pipe.write, Raised(pipe.write.get()));
  if (::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK) != 0) return ErrnoError(kStarting, "a sandbox", errno);
  return pipe;
}

Result<pid_t> Spawn(std::vector<std::string> words, SpawnSettings& settings) {
  settings.SetSignals({}, {SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGALRM, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGXFSZ});
  settings.LeadSession();
  std::vector<std::string> environment = {"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"};
  pid_t pid = -1;
  const int code = ::posix_spawnp(&pid, words.front().c_str(), &settings.actions, &settings.attributes,
                                  PointersTo(words).data(), PointersTo(environment).data());
  if (code != 0) return ErrnoError(kStarting, words.front(), code);
  return pid;
}

// A stream of the command: read to its end, kept up to a limit.
class Collected {
 public:
  Collected(Fd fd, std::size_t most) : fd_(std::move(fd)), most_(most) {}

  int fd() const { return open_ ? fd_.get() : -1; }
  bool open() const { return open_; }
  bool over_limit() const { return over_limit_; }
  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

  void Read() {
    std::array<char, 65536> buffer{};
    while (open_ && !over_limit_) {
      const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
      if (got <= 0) {
        open_ = false;
        return;
      }
      const std::size_t kept = std::min(static_cast<std::size_t>(got), most_ - text_.size());
      text_.append(buffer.data(), kept);
      over_limit_ = kept < static_cast<std::size_t>(got);
    }
  }

 private:
  Fd fd_;
  std::size_t most_;
  std::string text_;
  bool open_ = true;
  bool over_limit_ = false;
};

// The command from its start to its end.
class Supervised {
 public:
  // The ends of its pipes that this process has.
  struct Pipes {
    Fd alive;  // the watcher's
    Fd ready;  // of the command's start; closed if nothing is served
    Fd output;
    Fd error;
    Fd status;
    Fd files;
    std::size_t most_files = 0;
  };

  // `pid`: of the shell that leads the group.
  Supervised(pid_t pid, Pipes pipes, const SandboxCommand& command)
      : pid_(pid),
        alive_(std::move(pipes.alive)),
        ready_(std::move(pipes.ready)),
        command_(command),
        limits_(command.limits),
        stop_(command.stop),
        started_(SteadyClock::now()),
        output_(std::move(pipes.output), limits_.output_bytes),
        error_(std::move(pipes.error), limits_.output_bytes),
        status_(std::move(pipes.status), kMaxStatus),
        files_(std::move(pipes.files), pipes.most_files) {}

  Result<ConfinedOutcome> Run() {
    while (!Exited()) {
      Wait();
      output_.Read();
      error_.Read();
      status_.Read();
      files_.Read();
      OpenFirstProcess();
      if (const Status served = Serve(); !served) {
        EndAll();
        return served.error();
      }
      if (const auto ending = LimitReached()) {
        outcome_.outcome.ending = *ending;
        break;
      }
    }
    EndAll();
    output_.Read();
    error_.Read();
    status_.Read();
    files_.Read();
    ReadStatus();
    outcome_.files = files_.Take();
    outcome_.outcome.seconds = std::chrono::duration<double>(SteadyClock::now() - started_).count();
    outcome_.outcome.output = output_.Take();
    outcome_.outcome.error = error_.Take();
    // What the command has printed in its last moments may be too much as well.
    if (outcome_.outcome.ending == SandboxOutcome::Ending::kExited && OverOutput())
      outcome_.outcome.ending = SandboxOutcome::Ending::kOutputLimit;
    return std::move(outcome_);
  }

 private:
  static constexpr std::size_t kMaxStatus = 65536;
  static constexpr milliseconds kLook{50};  // at the limits

  bool OverOutput() const { return output_.over_limit() || error_.over_limit(); }

  bool Exited() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid_;
  }

  void Wait() const {
    std::array<pollfd, 4> waits = {pollfd{output_.fd(), POLLIN, 0}, pollfd{error_.fd(), POLLIN, 0},
                                   pollfd{status_.fd(), POLLIN, 0}, pollfd{files_.fd(), POLLIN, 0}};
    // The end of all streams comes a moment before the exit.
    constexpr int kLastMs = 1;
    const bool ending = !output_.open() && !error_.open() && !status_.open();
    ::poll(waits.data(), waits.size(), ending ? kLastMs : static_cast<int>(kLook.count()));
  }

  std::optional<SandboxOutcome::Ending> LimitReached() {
    using Ending = SandboxOutcome::Ending;
    if (stop_ != nullptr && stop_->load() >= command_.stop_at) return Ending::kStopped;
    if (OverOutput()) return Ending::kOutputLimit;
    const auto now = SteadyClock::now();
    if (now - started_ >= limits_.time) return Ending::kTimeLimit;
    if (now < next_look_) return std::nullopt;
    next_look_ = now + kLook;
    // bubblewrap's two processes, the watcher and its shell are not the command's.
    const auto most = static_cast<std::size_t>(limits_.processes) + 4;
    const TreeUse use = UseOfProcessTree(pid_, most + 1, limits_.memory_bytes);
    if (use.memory_bytes > limits_.memory_bytes) return Ending::kMemoryLimit;
    if (use.processes > most) return Ending::kProcessLimit;
    if (Files() > limits_.files) return Ending::kFileLimit;
    return std::nullopt;
  }

  // Files, folders and links that the command has made: each takes memory of the kernel, and bubblewrap has no limit
  // for them. 0 while the sandbox is being made, and where its folders can't be seen from outside.
  std::uint64_t Files() const {
    if (first_process_ <= 0) return 0;
    std::uint64_t count = 0;
    for (const char* folder : kWritableFolders) {
      const std::string seen = fmt::format("/proc/{}/root{}", first_process_, folder);
      struct stat of_machine{};
      struct stat of_sandbox{};
      struct statvfs use{};
      if (::stat(seen.c_str(), &of_sandbox) != 0) continue;
      if (::stat(folder, &of_machine) == 0 && of_machine.st_dev == of_sandbox.st_dev) continue;  // not in it yet
      if (::statvfs(seen.c_str(), &use) == 0) count += use.f_files - use.f_ffree;
    }
    return count;
  }

  // A handle of the first process of the name space, to wait for its end.
  void OpenFirstProcess() {
    if (first_.valid()) return;
    ReadStatus();
    if (first_process_ > 0) first_ = Fd(static_cast<int>(::syscall(SYS_pidfd_open, first_process_, 0)));
  }

  // Has the command's port served, once there is a network for it, and lets the command start.
  Status Serve() {
    if (!ready_.valid() || !first_.valid()) return {};
    ASSIGN_OR_RETURN(Fd listener, ListenInNetworkOf(first_process_, command_.served_port));
    command_.serve(std::move(listener));
    ready_.Close();
    return {};
  }

  // Ends what is left of the group, and with the first process of the name space all others.
  void EndAll() {
    // As long as nobody has waited for its leader, the number is this group's.
    ::kill(-pid_, SIGKILL);
    pid_t got = 0;
    do {
      got = ::waitpid(pid_, nullptr, 0);
    } while (got < 0 && errno == EINTR);
    // The kernel may take a moment.
    constexpr int kMostMs = 5000;
    OpenFirstProcess();
    if (!first_.valid()) return;
    pollfd wait{first_.get(), POLLIN, 0};
    ::poll(&wait, 1, kMostMs);
  }

  // {"child-pid": 7} once the sandbox is made, {"exit-code": 0} when the command has exited.
  void ReadStatus() {
    std::string_view rest = status_.text();
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      const Result<Json> report = ParseJson(rest.substr(0, end), "bubblewrap's status");
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      if (!report.ok() || !report.value().is_object()) continue;
      if (const Json* child = FindMember(report.value(), "child-pid"); child != nullptr && child->is_number_integer())
        first_process_ = child->get<pid_t>();
      if (const Json* code = FindMember(report.value(), "exit-code"); code != nullptr && code->is_number_integer()) {
        outcome_.started = true;
        outcome_.outcome.exit_code = code->get<int>();
      }
    }
    if (outcome_.outcome.ending != SandboxOutcome::Ending::kExited) outcome_.started = true;
  }

  const pid_t pid_;
  const Fd alive_;  // closed when this process ends
  Fd ready_;        // closing it lets a command start whose port is served
  const SandboxCommand& command_;
  const SandboxLimits& limits_;
  const StopFlag* stop_;
  const SteadyClock::time_point started_;
  SteadyClock::time_point next_look_ = started_ + kLook;
  Collected output_;
  Collected error_;
  Collected status_;
  Collected files_;
  ConfinedOutcome outcome_;
  pid_t first_process_ = -1;  // as bubblewrap has reported
  Fd first_;                  // a handle of it
};

}  // namespace

Result<ConfinedOutcome> RunConfined(const std::vector<std::string>& words, const ConfinedFiles& files,
                                    const SandboxCommand& command, std::size_t most_files) {
  ASSIGN_OR_RETURN(Pipe output, MakePipe());
  ASSIGN_OR_RETURN(Pipe error, MakePipe());
  ASSIGN_OR_RETURN(Pipe status, MakePipe());
  ASSIGN_OR_RETURN(Pipe watched, MakePipe());
  ASSIGN_OR_RETURN(Pipe ready, MakePipe());
  ASSIGN_OR_RETURN(Pipe collected, MakePipe());
  SpawnSettings settings;
  std::vector<Fd> sources;  // until the process has started
  const auto place = [&](const Fd& from, int to) -> Status {
    ASSIGN_OR_RETURN(Fd source, Raised(from.get()));
    ::posix_spawn_file_actions_adddup2(&settings.actions, source.get(), to);
    sources.push_back(std::move(source));
    return {};
  };
  for (const Fd* end : {&watched.read, &ready.read}) {
    if (::fcntl(end->get(), F_SETFL, 0) != 0) return ErrnoError(kStarting, "a sandbox", errno);
  }
  for (const int fd : {kFilterFd, kFilesFd, kReadyFd}) ::posix_spawn_file_actions_addclose(&settings.actions, fd);
  RETURN_IF_ERROR(place(files.input, STDIN_FILENO));
  RETURN_IF_ERROR(place(output.write, STDOUT_FILENO));
  RETURN_IF_ERROR(place(error.write, STDERR_FILENO));
  RETURN_IF_ERROR(place(status.write, kStatusFd));
  RETURN_IF_ERROR(place(watched.read, kWatchedFd));
  if (files.filter.valid()) RETURN_IF_ERROR(place(files.filter, kFilterFd));
  if (most_files > 0) RETURN_IF_ERROR(place(collected.write, kFilesFd));
  if (command.served_port > 0) RETURN_IF_ERROR(place(ready.read, kReadyFd));
  if (command.served_port <= 0) ready.write.Close();
  int next = kFirstSettingFd;
  for (const Fd& setting : files.settings) RETURN_IF_ERROR(place(setting, next++));
  // What this process has inherited from others may lead out of the sandbox.
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, next);
  std::vector<std::string> watched_words = {"/bin/sh", "-c", kWatchAndRun, "sh"};
  watched_words.insert(watched_words.end(), words.begin(), words.end());
  ASSIGN_OR_RETURN(const pid_t pid, Spawn(std::move(watched_words), settings));
  sources.clear();
  for (Pipe* pipe : {&output, &error, &status, &collected}) pipe->write.Close();
  return Supervised(pid,
                    {std::move(watched.write), std::move(ready.write), std::move(output.read), std::move(error.read),
                     std::move(status.read), std::move(collected.read), most_files},
                    command)
      .Run();
}

}  // namespace upskill
