// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace upskill {
namespace {

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

}  // namespace

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

}  // namespace upskill
