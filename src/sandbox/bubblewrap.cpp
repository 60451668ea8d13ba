// SPDX-License-Identifier: Apache-2.0
#include "sandbox/bubblewrap.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "sandbox/file_bundle.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSharedMemoryBytes = std::uint64_t{64} << 20U;

using Words = std::vector<std::string>;

void Append(Words& words, std::initializer_list<std::string> more) { words.insert(words.end(), more); }

// The system's programs and libraries, and what says where they are; nothing that tells about the user or the machine.
void AddSystem(Words& words) {
  constexpr std::array kFolders = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};
  constexpr std::array kSettings = {"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"};
  Append(words, {"--ro-bind", "/usr", "/usr"});
  for (const char* folder : kFolders) {
    std::error_code code;
    if (fs::is_symlink(folder, code)) {
      Append(words, {"--symlink", fs::read_symlink(folder, code).string(), folder});
    } else {
      Append(words, {"--ro-bind-try", folder, folder});
    }
  }
  for (const char* file : kSettings) Append(words, {"--ro-bind-try", file, file});
}

void AddTemporary(Words& words, std::uint64_t bytes, const std::string& folder) {
  Append(words, {"--size", std::to_string(bytes), "--tmpfs", folder});
}

void AddMounts(Words& words, const SandboxOptions& options, const SandboxCommand& command) {
  const SandboxLimits& limits = command.limits;
  AddSystem(words);
  int fd = kFirstSettingFd;
  for (const auto& [name, content] : command.settings)
    Append(words, {"--ro-bind-data", std::to_string(fd++), "/etc/" + name});
  Append(words, {"--proc", "/proc", "--dev", "/dev"});
  AddTemporary(words, kSharedMemoryBytes, "/dev/shm");
  AddTemporary(words, limits.disk_bytes, "/tmp");
  AddTemporary(words, limits.disk_bytes, kWorkspace);
  // After /tmp, in which one may be.
  for (const fs::path& folder : options.toolchains) Append(words, {"--ro-bind", folder.string(), folder.string()});
  Append(words, {"--remount-ro", "/dev", "--remount-ro", "/", "--chdir", kWorkspace});
}

void AddEnvironment(Words& words, const SandboxOptions& options, const std::vector<std::string>& variables) {
  words.emplace_back("--clearenv");
  Append(words, {"--setenv", "PATH", fmt::format("{}", fmt::join(SearchedFolders(options), ":"))});
  Append(words, {"--setenv", "HOME", "/tmp", "--setenv", "TMPDIR", "/tmp", "--setenv", "LANG", "C.UTF-8"});
  for (const std::string& variable : variables) {
    const std::size_t equals = variable.find('=');
    Append(words, {"--setenv", variable.substr(0, equals), variable.substr(std::min(equals, variable.size() - 1) + 1)});
  }
}

// Waits until the command's port is served, if it has one.
constexpr const char* kAwaitServer = "read -r line <&7; exec 7<&-";

// Unpacks the files, makes the kernel end this process before others when memory runs out, and runs the command ($1)
// under the limits that follow it. Closes kFilterFd and kStatusFd.
constexpr const char* kScript = R"(
exec 3<&- 4>&-
tar -xf - --no-same-owner --no-same-permissions ||
  { echo 'the files of the answer could not be unpacked' >&2; exit 125; }
echo 900 > /proc/self/oom_score_adj
command=$1; shift
exec "$@" -- sh -c "$command" < /dev/null)";

// The same, and packs the workspace afterwards: at most as many bytes as the first argument says. The command doesn't
// have kFilesFd, but may find a way to write to it: what comes from there is as untrusted as the files are.
constexpr const char* kCollectingScript = R"(
exec 3<&- 4>&-
most=$1; shift
tar -xf - --no-same-owner --no-same-permissions 6>&- ||
  { echo 'the files of the answer could not be unpacked' >&2; exit 125; }
echo 900 > /proc/self/oom_score_adj
command=$1; shift
"$@" -- sh -c "$command" < /dev/null 6>&-
code=$?
tar -cf - --format=gnu . 2>/dev/null | head -c "$most" >&6 2>/dev/null
exit "$code")";

}  // namespace

std::vector<std::string> SearchedFolders(const SandboxOptions& options) {
  std::vector<std::string> folders;
  for (const fs::path& folder : options.toolchains) {
    folders.push_back(folder.string());
    folders.push_back((folder / "bin").string());
  }
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin", "/usr/local/sbin", "/usr/sbin", "/sbin"})
    folders.emplace_back(folder);
  return folders;
}

std::vector<std::string> ConfinedCommandLine(const SandboxOptions& options, const SandboxCommand& command, bool filter,
                                             bool drop_root) {
  Words words;
  // Limits on processes don't apply to root.
  if (drop_root) words = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"};
  Append(words,
         {options.program, "--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts",
          "--unshare-cgroup-try", "--die-with-parent", "--hostname", "sandbox", "--uid", "1000", "--gid", "1000"});
  AddMounts(words, options, command);
  AddEnvironment(words, options, command.variables);
  if (filter) Append(words, {"--seccomp", std::to_string(kFilterFd)});
  const std::string script = command.collect ? kCollectingScript : kScript;
  Append(words, {"--json-status-fd", std::to_string(kStatusFd), "--", "setsid", "sh", "-c",
                 command.served_port > 0 ? kAwaitServer + script : script, "sh"});
  if (command.collect) words.push_back(std::to_string(MostTarBytes(*command.collect) + 1));
  words.push_back(command.command);
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(command.limits.time).count() + 1;
  Append(words, {"prlimit", fmt::format("--nproc={0}:{0}", command.limits.processes),
                 fmt::format("--data={0}:{0}", command.limits.memory_bytes),
                 fmt::format("--fsize={0}:{0}", command.limits.disk_bytes),
                 // Of each process, on all processors together.
                 fmt::format("--cpu={0}:{0}", seconds * 64), "--nofile=1024:1024", "--core=0:0"});
  return words;
}

}  // namespace upskill
