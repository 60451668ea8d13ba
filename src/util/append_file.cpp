// SPDX-License-Identifier: Apache-2.0
#include "util/append_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "util/folder.h"
#include "util/known_secrets.h"

namespace upskill {
namespace {

constexpr int kMaxReplaced = 1000;  // in a row; more means a file system without stable inode numbers

// Offset just after the last newline of the file, 0 if there is none.
Result<off_t> EndOfLastLine(int fd, off_t size, const std::filesystem::path& path) {
  std::array<char, 65536> block{};
  off_t end = size;
  while (end > 0) {
    const off_t start = end > static_cast<off_t>(block.size()) ? end - static_cast<off_t>(block.size()) : 0;
    const ssize_t got =
        Uninterrupted([&] { return ::pread(fd, block.data(), static_cast<std::size_t>(end - start), start); });
    if (got < 0) return ErrnoError("reading", path, errno);
    const std::string_view bytes(block.data(), static_cast<std::size_t>(got));
    const std::size_t newline = bytes.rfind('\n');
    if (newline != std::string_view::npos) return start + static_cast<off_t>(newline) + 1;
    end = start;
  }
  return off_t{0};
}

bool Truncated(int fd, off_t size) {
  return Uninterrupted([&] { return ::ftruncate(fd, size); }) == 0;
}

Result<Fd> OpenToAppend(const std::filesystem::path& path) {
  // O_NONBLOCK: without waiting at a pipe.
  constexpr int kFlags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  Fd fd(Uninterrupted([&] { return ::open(path.c_str(), kFlags, 0666); }));
  if (!fd.valid() && errno == ELOOP)
    return InputError(
        fmt::format("opening {}: it is a symbolic link, and nothing is written through it", path.string()));
  if (!fd.valid()) return ErrnoError("opening", path, errno);
  return fd;
}

}  // namespace

Result<AppendFile> AppendFile::Open(const std::filesystem::path& path, bool drop_torn_line) {
  for (int i = 0;; ++i) {
    ASSIGN_OR_RETURN(Fd fd, OpenToAppend(path));
    struct stat info{};
    if (::fstat(fd.get(), &info) != 0) return ErrnoError("opening", path, errno);
    if (!S_ISREG(info.st_mode)) return InputError(fmt::format("opening {}: not a regular file", path.string()));
    if (!TryLock(fd)) {
      return InputError(
          fmt::format("{} is being written by another process; wait until it has finished", path.string()));
    }
    // The lock's last holder may have put another file in its place: records would go to one without a name.
    struct stat named{};
    const bool exists = ::lstat(path.c_str(), &named) == 0;
    if (!exists && errno != ENOENT) return ErrnoError("opening", path, errno);
    const bool replaced = !exists || named.st_dev != info.st_dev || named.st_ino != info.st_ino;
    if (replaced && i < kMaxReplaced) continue;
    if (::fstat(fd.get(), &info) != 0) return ErrnoError("opening", path, errno);  // again: it may have grown
    if (drop_torn_line) {
      ASSIGN_OR_RETURN(const off_t end, EndOfLastLine(fd.get(), info.st_size, path));
      if (end < info.st_size && !Truncated(fd.get(), end)) return ErrnoError("repairing", path, errno);
    }
    return AppendFile(std::move(fd), path, info.st_size == 0);
  }
}

Status AppendFile::CutTo(off_t size) {
  torn_at_ = size;
  if (!Truncated(fd_.get(), size)) return ErrnoError("repairing", path_, errno);
  torn_at_.reset();
  return {};
}

Status AppendFile::Append(std::string_view record) {
  if (HasKnownSecret(record)) return Append(MaskSecrets(std::string(record)));
  if (torn_at_) RETURN_IF_ERROR(CutTo(*torn_at_));
  struct stat before{};
  if (::fstat(fd_.get(), &before) != 0) return ErrnoError("writing", path_, errno);
  // A short write is retried once, so that the second attempt reports the cause.
  Status written = WriteAll(fd_, record, path_);
  if (written) return {};
  // Readers drop an incomplete last line, but the next record must not be joined to it.
  if (const Status cut = CutTo(before.st_size); !cut) return cut.error().With(written.error().message);
  return written;
}

Status AppendFile::Sync() {
  if (Uninterrupted([&] { return ::fdatasync(fd_.get()); }) != 0 && errno != EINVAL && errno != EROFS)
    return ErrnoError("syncing", path_, errno);
  if (!has_unsynced_name_) return {};
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(FolderOf(path_)));
  RETURN_IF_ERROR(folder.Sync());
  has_unsynced_name_ = false;
  return {};
}

}  // namespace upskill
