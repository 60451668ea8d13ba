// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "util/folder.h"
#include "util/text.h"

namespace upskill {
Error ErrnoError(const std::string& action, const std::filesystem::path& path, int error_number) {
  const ErrorKind kind = error_number == ENOENT || error_number == ENOTDIR ? ErrorKind::kNotFound : ErrorKind::kIo;
  return Error{kind, fmt::format("{} {}: {}", action, path.string(), std::generic_category().message(error_number))};
}

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    Close();
    fd_ = other.Release();
  }
  return *this;
}

int Fd::Release() {
  const int fd = fd_;
  fd_ = -1;
  return fd;
}

void Fd::Close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Fd> OpenRegularFile(const std::filesystem::path& path, std::string_view hint) {
  Fd fd(Uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }));
  if (!fd.valid()) return ErrnoError("reading", path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("reading", path, errno);
  if (S_ISDIR(info.st_mode)) return ErrnoError("reading", path, EISDIR);
  if (S_ISREG(info.st_mode)) return fd;
  return InputError(fmt::format("reading {}: not a regular file{}{}", path.string(), hint.empty() ? "" : "; ", hint));
}

Result<std::string> ReadFile(const std::filesystem::path& path, std::uint64_t max_bytes) {
  ASSIGN_OR_RETURN(const Fd fd, OpenRegularFile(path));
  std::string content;
  std::array<char, 65536> block{};
  while (true) {
    const ssize_t got = ::read(fd.get(), block.data(), block.size());
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrnoError("reading", path, errno);
    }
    if (got == 0) break;
    content.append(block.data(), static_cast<std::size_t>(got));
    if (content.size() > max_bytes) {
      return InputError(fmt::format("reading {}: larger than {} bytes", path.string(),
                                    WithThousands(static_cast<long long>(max_bytes))));
    }
  }
  return content;
}

Status WriteAll(const Fd& fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = Uninterrupted([&] { return ::write(fd.get(), content.data(), content.size()); });
    if (written <= 0) return ErrnoError("writing", path, written < 0 ? errno : EIO);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content, Durability durability) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(FolderOf(path)));
  return folder.WriteFile(path.filename(), content, {durability});
}

std::filesystem::path FolderOf(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

Status MakeFolders(const std::filesystem::path& path) {
  std::error_code code;
  std::vector<std::filesystem::path> missing;
  for (std::filesystem::path at = path; !at.empty() && !std::filesystem::exists(at, code) && at != at.parent_path();
       at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at);
  }
  std::filesystem::create_directories(path, code);
  if (code) return ErrnoError("creating folder", path, code.value());
  for (const std::filesystem::path& made : missing) {
    ASSIGN_OR_RETURN(const Folder parent, Folder::Open(FolderOf(made)));
    RETURN_IF_ERROR(parent.Sync());
  }
  return {};
}

std::string PlainFileName(const std::string& name) {
  return std::filesystem::path(name).lexically_normal().generic_string();
}

std::string ConflictOfFiles(const std::map<std::string, std::string>& files) {
  constexpr std::size_t kLongestPart = 255;
  constexpr std::size_t kLongestName = 4000;
  for (const auto& [name, content] : files) {
    std::size_t part = 0;
    for (std::size_t slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
      if (files.contains(name.substr(0, slash)))
        return fmt::format("{} is a file and a folder", ExcerptLine(name.substr(0, slash), 80));
      if (slash - part > kLongestPart) break;
      part = slash + 1;
    }
    const bool long_part = std::min(name.find('/', part), name.size()) - part > kLongestPart;
    if (long_part || name.size() > kLongestName) return fmt::format("{} is too long a name", ExcerptLine(name, 80));
  }
  return "";
}

Result<std::filesystem::path> ContainedPath(const std::filesystem::path& folder, const std::string& name) {
  constexpr std::size_t kShownColumns = 200;
  const auto invalid = [&](const std::string& why) {
    return InputError(fmt::format("file name '{}' {}", ExcerptLine(name, kShownColumns), why));
  };
  if (name.empty()) return invalid("is empty");
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) return invalid("contains a control character");
  }
  const std::filesystem::path relative(name);
  if (relative.is_absolute()) return invalid("is absolute; use a relative path");
  for (const auto& part : relative) {
    if (part == "..") return invalid("points outside its folder");
  }
  const std::filesystem::path normal = relative.lexically_normal();
  if (normal == "." || !normal.has_filename()) return invalid("is a folder");
  return folder / normal;
}

}  // namespace upskill
