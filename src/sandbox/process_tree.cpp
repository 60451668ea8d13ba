// SPDX-License-Identifier: Apache-2.0
#include "sandbox/process_tree.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

namespace upskill {
namespace {

std::uint64_t PrivateMemory(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/statm", process));
  std::uint64_t size = 0;
  std::uint64_t resident = 0;
  std::uint64_t shared = 0;
  if (!(file >> size >> resident >> shared) || shared > resident) return 0;
  return (resident - shared) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void AddChildren(pid_t process, std::vector<pid_t>& found) {
  std::error_code code;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", process);
  for (std::filesystem::directory_iterator task(tasks, code), end; !code && task != end; task.increment(code)) {
    std::ifstream file(task->path() / "children");
    for (pid_t child = 0; file >> child;) found.push_back(child);
  }
}

}  // namespace

TreeUse UseOfProcessTree(pid_t root, std::size_t most) {
  TreeUse use;
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size() && i < most; ++i) {
    use.memory_bytes += PrivateMemory(found[i]);
    AddChildren(found[i], found);
  }
  use.processes = found.size();
  return use;
}

}  // namespace upskill
