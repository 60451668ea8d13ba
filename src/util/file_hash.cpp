// SPDX-License-Identifier: Apache-2.0
#include "util/file_hash.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <vector>

#include "util/files.h"
#include "util/hash.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRemembered = 200;  // hashes; the newest are kept
constexpr std::uint64_t kMaxBytes = 1U << 20U;
constexpr std::size_t kBlock = std::size_t{1} << 20U;

long long Nanoseconds(const timespec& time) {
  return static_cast<long long>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

// The version of a file: a change of its content changes it, also if somebody sets the time of modification back.
std::string VersionOf(const struct stat& info) {
  return fmt::format("{} {} {} {} {}", info.st_dev, info.st_ino, info.st_size, Nanoseconds(info.st_mtim),
                     Nanoseconds(info.st_ctim));
}

bool IsHash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// The remembered lines "HASH VERSION", oldest first.
std::vector<std::string> ReadRemembered(const fs::path& file) {
  struct stat info{};
  if (file.empty() || ::lstat(file.c_str(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode) || info.st_uid != ::geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) return {};
  const Result<std::string> text = ReadFile(file, kMaxBytes);
  std::vector<std::string> lines;
  if (!text) return lines;
  for (const std::string_view line : SplitLines(*text)) {
    if (line.size() > 65 && line[64] == ' ' && IsHash(line.substr(0, 64))) lines.emplace_back(line);
  }
  return lines;
}

void Remember(const fs::path& file, const std::string& hash, const std::string& version) {
  if (file.empty()) return;
  std::vector<std::string> lines = ReadRemembered(file);
  std::erase_if(lines, [&](const std::string& line) { return line.substr(65) == version; });
  lines.push_back(hash + " " + version);
  if (lines.size() > kRemembered) lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(kRemembered));
  // Without it, the file is hashed again next time.
  if (!MakeFolders(file.parent_path())) return;
  static_cast<void>(WriteFileAtomically(file, fmt::format("{}\n", fmt::join(lines, "\n")), Durability::kNotSynced));
}

Result<std::string> HashAll(const Fd& fd, const fs::path& path, const FileHashOptions& options) {
  StreamingHash hash(StreamingHash::Kind::kSha256);
  std::vector<char> block(kBlock);
  std::function<void()> on_slow = options.clock == nullptr ? nullptr : options.on_slow;
  const Clock::Steady start = options.clock == nullptr ? Clock::Steady() : options.clock->Now();
  while (true) {
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return ErrnoError("reading", path, errno);
    if (got == 0) return hash.Hex();
    hash.Add({block.data(), static_cast<std::size_t>(got)});
    if (!on_slow || options.clock->Now() - start <= std::chrono::seconds(1)) continue;
    on_slow();
    on_slow = nullptr;
  }
}

}  // namespace

Result<std::string> HashFile(const fs::path& path, const FileHashOptions& options) {
  ASSIGN_OR_RETURN(const Fd fd, OpenRegularFile(path));
  struct stat before{};
  if (::fstat(fd.get(), &before) != 0) return ErrnoError("reading", path, errno);
  const std::string version = VersionOf(before);
  for (const std::string& line : ReadRemembered(options.remembered)) {
    if (line.substr(65) == version) return line.substr(0, 64);
  }
  ASSIGN_OR_RETURN(std::string hash, HashAll(fd, path, options));
  struct stat after{};
  if (::fstat(fd.get(), &after) == 0 && VersionOf(after) == version) Remember(options.remembered, hash, version);
  return hash;
}

}  // namespace upskill
