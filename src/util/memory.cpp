// SPDX-License-Identifier: Apache-2.0
#include "util/memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace upskill {
namespace {

namespace fs = std::filesystem;

// The number after `key` in a file of "key number" lines.
std::optional<std::uint64_t> NumberOfKey(const fs::path& file, const std::string& key) {
  std::ifstream in(file);
  std::string word;
  std::uint64_t number = 0;
  while (in >> word >> number) {
    if (word == key) return number;
    in.ignore(256, '\n');
  }
  return std::nullopt;
}

// A file that is one number; nothing for "max".
std::optional<std::uint64_t> NumberIn(const fs::path& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;
}

// The files of a version of control groups.
struct GroupFiles {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // key in memory.stat: cached file pages that the kernel drops when memory is needed
};
constexpr GroupFiles kVersion1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"};
constexpr GroupFiles kVersion2{"memory.max", "memory.current", "inactive_file"};

// What is left of one group's limit; nothing without one.
std::optional<std::uint64_t> RoomIn(const fs::path& group, const GroupFiles& files) {
  const std::optional<std::uint64_t> limit = NumberIn(group / files.limit);
  if (!limit) return std::nullopt;
  const std::uint64_t usage = NumberIn(group / files.usage).value_or(0);
  const std::uint64_t reclaimable = NumberOfKey(group / "memory.stat", files.reclaimable).value_or(0);
  const std::uint64_t used = usage - std::min(usage, reclaimable);
  return *limit - std::min(*limit, used);
}

// The least room of a group and all groups above it. A container may not see the path that its own group has on the
// host: then its group is at the root.
std::uint64_t RoomBelow(const fs::path& root, const std::string& path, const GroupFiles& files) {
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();
  for (fs::path group = fs::path(path).relative_path(); !group.empty(); group = group.parent_path())
    room = std::min(room, RoomIn(root / group, files).value_or(room));
  return std::min(room, RoomIn(root, files).value_or(room));
}

bool ListsMemory(const std::string& controllers) {
  return ("," + controllers + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::size_t AvailableMemory(const fs::path& proc, const fs::path& cgroups) {
  const std::optional<std::uint64_t> kilobytes = NumberOfKey(proc / "meminfo", "MemAvailable:");
  std::uint64_t room = kilobytes ? *kilobytes * 1024 : std::numeric_limits<std::uint64_t>::max();
  // Lines "HIERARCHY:CONTROLLERS:PATH"; version 2 has hierarchy 0 and no controllers.
  std::ifstream groups(proc / "self" / "cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (path.find("..") != std::string::npos) continue;  // outside of what this process can see
    if (controllers.empty()) room = std::min(room, RoomBelow(cgroups, path, kVersion2));
    if (ListsMemory(controllers)) room = std::min(room, RoomBelow(cgroups / "memory", path, kVersion1));
  }
  return room == std::numeric_limits<std::uint64_t>::max() ? 0 : static_cast<std::size_t>(room);
}

}  // namespace upskill
