// SPDX-License-Identifier: Apache-2.0
#include "util/file_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

namespace upskill {

std::optional<std::string> FileIdentity(const std::filesystem::path& path, std::chrono::system_clock::time_point now) {
  constexpr std::chrono::seconds kSettled{2};
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  if (std::chrono::system_clock::from_time_t(info.st_mtim.tv_sec) + kSettled > now) return std::nullopt;
  return fmt::format("{:x}.{:x}.{:x}.{:x}.{:x}.{:x}.{:x}", info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec, info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
}

}  // namespace upskill
