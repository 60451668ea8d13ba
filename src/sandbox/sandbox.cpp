// SPDX-License-Identifier: Apache-2.0
#include "sandbox/sandbox.h"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "sandbox/bubblewrap.h"
#include "sandbox/confined_process.h"
#include "sandbox/file_bundle.h"
#include "util/child_environment.h"
#include "util/files.h"
#include "util/run_child.h"
#include "util/seccomp_filter.h"
#include "util/temp_folder.h"
#include "util/text.h"

namespace upskill {

namespace {

namespace fs = std::filesystem;

// Numbers above 423 are the same on all architectures.
constexpr int kOpenTree = 428;
constexpr int kMoveMount = 429;
constexpr int kFsopen = 430;
constexpr int kFspick = 433;
constexpr int kClone3 = 435;
constexpr int kMountSetattr = 442;

constexpr std::array kRefusedInSandbox = {
    // Other processes.
    __NR_ptrace, __NR_process_vm_readv, __NR_process_vm_writev, __NR_kcmp, __NR_perf_event_open,
    // Mounts, name spaces, other roots.
    __NR_mount, __NR_umount2, __NR_pivot_root, __NR_chroot, __NR_setns, __NR_unshare, kOpenTree, kMoveMount, kFsopen,
    kFspick, kMountSetattr, __NR_open_by_handle_at, __NR_name_to_handle_at,
    // The kernel.
    __NR_bpf, __NR_init_module, __NR_finit_module, __NR_delete_module, __NR_kexec_load, __NR_reboot, __NR_swapon,
    __NR_swapoff, __NR_acct, __NR_quotactl, __NR_syslog, __NR_settimeofday, __NR_clock_settime, __NR_adjtimex,
    __NR_clock_adjtime, __NR_sethostname, __NR_setdomainname,
    // Large interfaces with a history of faults, which builds and tests don't need.
    __NR_add_key, __NR_request_key, __NR_keyctl, __NR_userfaultfd, __NR_io_uring_setup, __NR_io_uring_enter,
    __NR_io_uring_register,
    // Shared memory that belongs to no process, so that it can't be counted.
    __NR_shmget};

constexpr std::uint32_t kNewNameSpaces =
    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
constexpr std::array<std::uint32_t, 4> kSockets = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};

constexpr std::array<int, 2> kAbsentInSandbox = {
    // Its flags are in memory, where a filter can't look; the C library falls back to clone.
    kClone3,
    // Files in memory that belong to no process and no folder, so that they can't be counted; those who use them fall
    // back to files in /tmp.
    __NR_memfd_create};

constexpr std::array<RefusedArgument, 3> kRefusedArguments = {{
    {__NR_clone, 0, kNewNameSpaces, {}},
    {__NR_socket, 0, 0, kSockets},
    {__NR_socketpair, 0, 0, kSockets},
}};

// The program for seccomp(2) of a sandboxed command, as bytes: refuses calls that look into or change other processes,
// the kernel's settings, mounts and name spaces, sockets of other kinds than Unix and IP, and input faked for a
// terminal. Empty on an architecture whose system calls aren't known (util/seccomp_filter.h).
std::string FilterOfSandbox() {
  const std::vector<sock_filter> filter =
      RefuseSystemCalls({.calls = kRefusedInSandbox, .arguments = kRefusedArguments, .absent = kAbsentInSandbox});
  return {reinterpret_cast<const char*>(filter.data()), filter.size() * sizeof(sock_filter)};
}

constexpr const char* kHint =
    "install bubblewrap and allow user name spaces, or, for suites that you trust, use --no-sandbox";

// The first folder on the way to this one, or this one, that other users can't use; empty if there is none.
fs::path ClosedFolder(const fs::path& folder) {
  fs::path reached;
  for (const fs::path& name : folder) {
    reached /= name;
    std::error_code code;
    const fs::perms open = fs::status(reached, code).permissions();
    const fs::perms needed =
        reached == folder ? fs::perms::others_exec | fs::perms::others_read : fs::perms::others_exec;
    if (code) return {};  // it isn't there
    if ((open & needed) != needed) return reached;
  }
  return {};
}

// Why commands can't read one of the toolchains, and what to do; empty if they can read all.
std::string ClosedToolchain(const SandboxOptions& options) {
  for (const fs::path& folder : options.toolchains) {
    if (const std::string why = WhyCommandsCantRead(folder); !why.empty())
      return fmt::format(
          "commands can't read the toolchain {}: {}; move the toolchain to a place that everyone can "
          "read, such as /opt",
          folder.string(), why);
  }
  return "";
}

void TakeFiles(FileBundle bundle, SandboxOutcome& outcome) {
  outcome.left_out = bundle.left_out;
  outcome.too_much = bundle.too_much;
  if (!bundle.too_much) outcome.files = std::move(bundle.files);
}

// By the user's own shell, with nothing but the limits of time and output; for those who have said so.
Result<SandboxOutcome> RunUnconfined(const SandboxOptions& options, const SandboxCommand& command) {
  ASSIGN_OR_RETURN(const TempFolder workspace, TempFolder::Make("upskill-workspace-"));
  for (const auto& [name, content] : command.files) {
    const bool is_folder = name.ends_with('/');
    ASSIGN_OR_RETURN(const fs::path inside,
                     ContainedPath(workspace.path(), is_folder ? name.substr(0, name.size() - 1) : name));
    if (is_folder) {
      std::error_code made;
      fs::create_directories(inside, made);
      if (made) return ErrnoError("making", inside, made.value());
      continue;
    }
    const fs::path file = workspace.Write(name, content);
    std::error_code code;
    fs::permissions(file, PermissionsOf(content), code);
    if (code) return ErrnoError("writing", file, code.value());
  }
  std::vector<std::string> environment = ChildEnvironment();
  environment =
      WithVariable(std::move(environment), "PATH", fmt::format("{}", fmt::join(SearchedFolders(options), ":")));
  for (const std::string& variable : command.variables) environment.push_back(variable);
  if (!command.program.empty())
    environment = WithVariable(std::move(environment), kProgramVariable, command.program.string());
  ChildLimits limits;
  limits.time = command.limits.time;
  limits.output_bytes = command.limits.output_bytes;
  limits.error_bytes = command.limits.output_bytes;
  limits.most_error_bytes = command.limits.output_bytes;
  limits.until_exit = true;
  limits.stopped = [stop = command.stop, at = command.stop_at] { return stop != nullptr && stop->load() >= at; };
  const auto before = std::chrono::steady_clock::now();
  environment = WithVariable(std::move(environment), "UPSKILL_CHECK_COMMAND", command.command);
  const std::string line =
      fmt::format("cd {} && exec sh -c \"$UPSKILL_CHECK_COMMAND\" </dev/null", ShellWord(workspace.path().string()));
  ASSIGN_OR_RETURN(ChildOutcome child, RunChild(line, std::move(environment), "", limits));
  SandboxOutcome outcome;
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  outcome.exit_code = child.exit_code;
  outcome.output = std::move(child.output);
  outcome.output.resize(std::min(outcome.output.size(), command.limits.output_bytes));
  outcome.error = std::move(child.error_tail);
  switch (child.ending) {
    case ChildOutcome::Ending::kExited:
      break;
    case ChildOutcome::Ending::kTimeLimit:
      outcome.ending = SandboxOutcome::Ending::kTimeLimit;
      break;
    case ChildOutcome::Ending::kOutputLimit:
      outcome.ending = SandboxOutcome::Ending::kOutputLimit;
      break;
    case ChildOutcome::Ending::kStopped:
      outcome.ending = SandboxOutcome::Ending::kStopped;
      break;
  }
  if (command.collect && outcome.ending == SandboxOutcome::Ending::kExited) {
    ASSIGN_OR_RETURN(FileBundle bundle, FilesOfFolder(workspace.path(), *command.collect));
    TakeFiles(std::move(bundle), outcome);
  }
  return outcome;
}

}  // namespace

struct Sandbox::State {
  explicit State(SandboxOptions given) : options(std::move(given)), filter(FilterOfSandbox()) {}

  Result<ConfinedOutcome> Run(const SandboxCommand& command) const {
    if (command.program.empty() || ::geteuid() != 0 || ClosedFolder(command.program).empty()) return RunIn(command);
    // The user nobody can't read it where it is.
    constexpr const char* kCopy = "upskill-program";
    SandboxCommand copy = command;
    ASSIGN_OR_RETURN(copy.files[kCopy], ReadFile(command.program, std::uint64_t{1} << 30U));
    copy.program.clear();
    copy.variables.push_back(fmt::format("{}={}/{}", kProgramVariable, kWorkspace, kCopy));
    return RunIn(copy);
  }

  Result<ConfinedOutcome> RunIn(const SandboxCommand& command) const {
    ConfinedFiles files;
    ASSIGN_OR_RETURN(files.input, TarOfFiles(command.files));
    if (!filter.empty()) {
      ASSIGN_OR_RETURN(files.filter, MemoryFile(filter));
    }
    for (const auto& [name, content] : command.settings) {
      ASSIGN_OR_RETURN(Fd file, MemoryFile(content));
      files.settings.push_back(std::move(file));
    }
    const std::vector<std::string> words =
        ConfinedCommandLine(options, command, files.filter.valid(), ::geteuid() == 0);
    const std::size_t most = command.collect ? MostTarBytes(*command.collect) + 1 : 0;
    ASSIGN_OR_RETURN(ConfinedOutcome run, RunConfined(words, files, command, most));
    if (command.collect && run.outcome.ending == SandboxOutcome::Ending::kExited)
      TakeFiles(FilesOfTar(run.files, *command.collect), run.outcome);
    return run;
  }

  Status Try() const {
    SandboxCommand command;
    command.command = "true";
    for (const fs::path& folder : options.toolchains)
      command.command += fmt::format(" && test -r {0} && test -x {0}", ShellWord(folder.string()));
    command.limits.time = std::chrono::seconds(10);
    const Result<ConfinedOutcome> run = Run(command);
    if (run.ok() && run->started && run->outcome.ending == SandboxOutcome::Ending::kExited &&
        run->outcome.exit_code == 0)
      return {};
    if (std::string closed = ClosedToolchain(options); !closed.empty())
      return Error{ErrorKind::kInput, std::move(closed)};
    return Error{ErrorKind::kInput, fmt::format("there is no sandbox: {}; {}",
                                                run.ok() ? WhyNot(run->outcome) : run.error().message, kHint)};
  }

  static std::string WhyNot(const SandboxOutcome& outcome) {
    const std::string_view error = Trim(outcome.error);
    if (!error.empty()) return ExcerptLine(error, 200);
    if (outcome.ending != SandboxOutcome::Ending::kExited) return "bubblewrap takes too long";
    return fmt::format("bubblewrap ends with exit code {}", outcome.exit_code);
  }

  SandboxOptions options;
  std::string filter;
  std::once_flag tried;
  Status available;
};

Sandbox::Sandbox(SandboxOptions options) : state_(std::make_unique<State>(std::move(options))) {}
Sandbox::~Sandbox() = default;

bool Sandbox::confined() const { return state_->options.confined; }

Status Sandbox::Available() const {
  if (!confined()) return {};
  std::call_once(state_->tried, [this] { state_->available = state_->Try(); });
  return state_->available;
}

bool Sandbox::HasProgram(const std::string& name) const {
  for (const std::string& folder : SearchedFolders(state_->options)) {
    const fs::path file = fs::path(folder) / name;
    std::error_code code;
    if (fs::is_regular_file(file, code) && ::access(file.c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::optional<fs::path> Sandbox::ToolchainWith(const std::string& file) const {
  for (const fs::path& folder : state_->options.toolchains) {
    std::error_code code;
    if (fs::is_regular_file(folder / file, code)) return folder;
  }
  return std::nullopt;
}

Result<SandboxOutcome> Sandbox::Run(const SandboxCommand& command) const {
  if (!confined()) return RunUnconfined(state_->options, command);
  RETURN_IF_ERROR(Available());
  // Where the machine has no process or memory to spare at the moment, it may have some a little later.
  constexpr int kAttempts = 4;
  for (int attempt = 1;; ++attempt) {
    Result<ConfinedOutcome> confined = state_->Run(command);
    if (confined.ok() && confined.value().started) return std::move(confined.value().outcome);
    if (attempt < kAttempts) {
      std::this_thread::sleep_for(std::chrono::milliseconds(200 * attempt));
      continue;
    }
    if (!confined.ok()) return confined.error();
    return Error{ErrorKind::kPermanent,
                 fmt::format("the sandbox could not be made: {}", State::WhyNot(confined.value().outcome))};
  }
}

std::string WhyCommandsCantRead(const fs::path& folder) {
  if (::geteuid() != 0) {
    const bool closed = ::access(folder.c_str(), R_OK | X_OK) != 0 && errno != ENOENT;
    return closed ? ErrnoError("reading", folder, errno).message : "";
  }
  const fs::path closed = ClosedFolder(folder);
  if (closed.empty()) return "";
  return fmt::format("when upskill runs as root, commands run as the user nobody, and {} is closed to other users",
                     closed.string());
}

const Sandbox& DefaultSandbox() {
  static const Sandbox sandbox{SandboxOptions{}};
  return sandbox;
}

}  // namespace upskill
