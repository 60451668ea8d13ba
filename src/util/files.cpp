// SPDX-License-Identifier: Apache-2.0
#include "util/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "util/known_secrets.h"
#include "util/text.h"

namespace upskill {
namespace {

Status WriteAll(int fd, std::string_view content, const std::filesystem::path& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrnoError("writing", path, errno);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

std::filesystem::path FolderOf(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

// Offset just after the last newline of the file, 0 if there is none.
Result<off_t> EndOfLastLine(int fd, off_t size, const std::filesystem::path& path) {
  std::array<char, 65536> block{};
  off_t end = size;
  while (end > 0) {
    const off_t start = end > static_cast<off_t>(block.size()) ? end - static_cast<off_t>(block.size()) : 0;
    const ssize_t got = ::pread(fd, block.data(), static_cast<std::size_t>(end - start), start);
    if (got < 0) return ErrnoError("reading", path, errno);
    const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
    const std::size_t newline = bytes.rfind('\n');
    if (newline != std::string_view::npos) return start + static_cast<off_t>(newline) + 1;
    end = start;
  }
  return off_t{0};
}

}  // namespace

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

Result<std::string> ReadFile(const std::filesystem::path& path, std::uint64_t max_bytes) {
  const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.valid()) return ErrnoError("reading", path, errno);
  struct stat info{};
  if (::fstat(fd.get(), &info) != 0) return ErrnoError("reading", path, errno);
  if (S_ISDIR(info.st_mode)) return ErrnoError("reading", path, EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return InputError(fmt::format("reading {}: not a regular file", path.string()));
  }
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

Status PublishFile(const Fd& fd, const std::filesystem::path& temporary, const std::filesystem::path& target,
                   Durability durability) {
  const bool synced = durability == Durability::kSynced;
  if (synced && ::fdatasync(fd.get()) != 0) return ErrnoError("writing", target, errno);
  if (::rename(temporary.c_str(), target.c_str()) != 0) return ErrnoError("writing", target, errno);
  if (!synced) return {};
  const Fd folder(::open(FolderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems can't sync folders, and a folder may be writable without being readable.
  if (folder.valid() && ::fsync(folder.get()) != 0 && errno != EINVAL) return ErrnoError("writing", target, errno);
  return {};
}

Result<TemporaryFile> TemporaryFile::MakeFor(const std::filesystem::path& target) {
  std::string path = (FolderOf(target) / ("." + target.filename().string() + ".XXXXXX")).string();
  Fd fd(::mkostemp(path.data(), O_CLOEXEC));
  if (!fd.valid()) return ErrnoError("writing", target, errno);
  TemporaryFile file(std::move(fd), std::move(path), target);
  if (::fchmod(file.fd().get(), 0644) != 0) return ErrnoError("writing", target, errno);
  return file;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : fd_(std::move(other.fd_)), path_(std::exchange(other.path_, {})), target_(std::move(other.target_)) {}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status TemporaryFile::Publish(Durability durability) {
  RETURN_IF_ERROR(PublishFile(fd_, path_, target_, durability));
  path_.clear();
  return {};
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content, Durability durability) {
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::MakeFor(path));
  RETURN_IF_ERROR(HasKnownSecret(content) ? WriteAll(file.fd().get(), MaskSecrets(std::string(content)), path)
                                          : WriteAll(file.fd().get(), content, path));
  return file.Publish(durability);
}

Status MakeFolders(const std::filesystem::path& path) {
  std::error_code code;
  std::filesystem::create_directories(path, code);
  if (code) return ErrnoError("creating folder", path, code.value());
  return {};
}

Result<std::filesystem::path> ContainedPath(const std::filesystem::path& folder, const std::string& name) {
  const auto invalid = [&](const std::string& why) { return InputError(fmt::format("file name '{}' {}", name, why)); };
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

Result<AppendFile> AppendFile::Open(const std::filesystem::path& path, bool drop_torn_line) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!fd.valid()) return ErrnoError("opening", path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return InputError(fmt::format("{} is being written by another process; wait until it has finished", path.string()));
  }
  if (drop_torn_line) {
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0) return ErrnoError("opening", path, errno);
    ASSIGN_OR_RETURN(const off_t end, EndOfLastLine(fd.get(), info.st_size, path));
    if (end < info.st_size && ::ftruncate(fd.get(), end) != 0) return ErrnoError("repairing", path, errno);
  }
  return AppendFile(std::move(fd), path);
}

Status AppendFile::Append(std::string_view record) {
  if (HasKnownSecret(record)) return Append(MaskSecrets(std::string(record)));
  struct stat before{};
  if (::fstat(fd_.get(), &before) != 0) return ErrnoError("writing", path_, errno);
  ssize_t written = -1;
  do {
    written = ::write(fd_.get(), record.data(), record.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(record.size())) return {};
  const int cause = written < 0 ? errno : ENOSPC;
  // A short write leaves a partial record: undo it. Readers drop an incomplete last line in any case.
  if (written > 0 && ::ftruncate(fd_.get(), before.st_size) != 0) return ErrnoError("writing", path_, errno);
  return ErrnoError("writing", path_, cause);
}

Status AppendFile::Sync() {
  if (::fdatasync(fd_.get()) != 0 && errno != EINVAL && errno != EROFS) return ErrnoError("syncing", path_, errno);
  return {};
}

}  // namespace upskill
