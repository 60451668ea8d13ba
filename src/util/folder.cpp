// SPDX-License-Identifier: Apache-2.0
#include "util/folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "util/known_secrets.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxNamePart = 200;  // of a temporary name, which has more than its file's own
constexpr int kMaxNames = 100;             // tried for a temporary file

// A folder's descriptor from `open`, called with an access mode. A folder may be writable without being readable. On
// failure errno says why.
template <typename Open>
Fd OpenedAsFolder(const Open& open) {
  const int fd = Uninterrupted([&] { return open(O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
  if (fd >= 0 || errno != EACCES) return Fd(fd);
  return Fd(Uninterrupted([&] { return open(O_PATH | O_DIRECTORY | O_CLOEXEC); }));
}

Fd OpenAt(int folder, const fs::path& name) {
  return OpenedAsFolder([&](int flags) { return ::openat(folder, name.c_str(), flags | O_NOFOLLOW); });
}

Fd OpenByKernel(int folder, const fs::path& name) {
  return OpenedAsFolder([&](int flags) {
    open_how how{};
    how.flags = static_cast<std::uint64_t>(flags);
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
    return static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof(how)));
  });
}

// The same, one part of the name after another. With `make`, those that are missing are made; each is synced to the
// disk with kSynced.
Fd OpenStepwise(int folder, const fs::path& name, std::optional<Durability> make) {
  Fd at;
  int parent = folder;
  for (const fs::path& part : name) {
    Fd next = OpenAt(parent, part);
    if (!next.valid() && errno == ENOENT && make) {
      if (::mkdirat(parent, part.c_str(), 0777) != 0 && errno != EEXIST) return {};
      if (*make == Durability::kSynced && Uninterrupted([&] { return ::fsync(parent); }) != 0 && errno == EIO)
        return {};
      next = OpenAt(parent, part);
    }
    struct stat info{};
    if (!next.valid() && errno == ENOTDIR && ::fstatat(parent, part.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      errno = S_ISLNK(info.st_mode) ? ELOOP : ENOTDIR;
    if (!next.valid()) return next;
    at = std::move(next);
    parent = at.get();
  }
  return at;
}

bool StaysBelow(const fs::path& name) {
  return !name.empty() && name.is_relative() && name.native().find('\0') == std::string::npos &&
         std::none_of(name.begin(), name.end(),
                      [](const fs::path& part) { return part.empty() || part == "." || part == ".."; });
}

Error NotBelow(const Folder& folder, const fs::path& name) {
  return InputError(
      fmt::format("'{}' is not the name of a file or folder in {}", name.string(), folder.path().string()));
}

Error FolderError(const char* action, const Folder& folder, const fs::path& name, int error_number) {
  const fs::path path = folder.path() / name;
  if (error_number != ELOOP) return ErrnoError(action, path, error_number);
  return InputError(fmt::format("{} contains a symbolic link below {}, and nothing is written through it; use a folder",
                                path.string(), folder.path().string()));
}

bool SyncData(const Fd& fd) {
  return Uninterrupted([&] { return ::fdatasync(fd.get()); }) == 0;
}

std::string TemporaryName(const std::string& name) {
  std::random_device random;
  return fmt::format(".{}.{:08x}{:08x}", name.substr(0, kMaxNamePart), random(), random());
}

}  // namespace

bool TryLock(const Fd& fd) {
  return Uninterrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) == 0 || errno != EWOULDBLOCK;
}

Result<Folder> Folder::Open(const fs::path& path) {
  Fd fd = OpenedAsFolder([&](int flags) { return ::open(path.c_str(), flags); });
  if (!fd.valid()) return ErrnoError("opening folder", path, errno);
  return Folder(std::move(fd), path);
}

Result<Folder> Folder::Make(const fs::path& path) {
  RETURN_IF_ERROR(MakeFolders(path));
  return Open(path);
}

Result<Folder> Folder::OpenBelow(const fs::path& name, Lookup lookup) const {
  if (!StaysBelow(name)) return NotBelow(*this, name);
  Fd fd;
  errno = ENOSYS;
  if (lookup == Lookup::kKernel) fd = OpenByKernel(fd_.get(), name);
  if (!fd.valid() && (errno == ENOSYS || errno == EPERM || errno == EAGAIN))
    fd = OpenStepwise(fd_.get(), name, std::nullopt);
  if (!fd.valid()) return FolderError("opening folder", *this, name, errno);
  return Folder(std::move(fd), path_ / name);
}

Result<Folder> Folder::MakeBelow(const fs::path& name, Durability durability, Lookup lookup) const {
  Result<Folder> existing = OpenBelow(name, lookup);
  if (existing || existing.error().kind != ErrorKind::kNotFound) return existing;
  Fd fd = OpenStepwise(fd_.get(), name, durability);
  if (!fd.valid()) return FolderError("creating folder", *this, name, errno);
  return Folder(std::move(fd), path_ / name);
}

Status Folder::WriteFile(const fs::path& name, std::string_view content, const FileOptions& options) const {
  if (!StaysBelow(name)) return NotBelow(*this, name);
  if (name.has_parent_path()) {
    ASSIGN_OR_RETURN(const Folder folder, MakeBelow(name.parent_path(), options.durability));
    return folder.WriteFile(name.filename(), content, options);
  }
  ASSIGN_OR_RETURN(TemporaryFile file, TemporaryFile::MakeIn(*this, name.string(), options.mode));
  RETURN_IF_ERROR(HasKnownSecret(content) ? WriteAll(file.fd(), MaskSecrets(std::string(content)), path_ / name)
                                          : WriteAll(file.fd(), content, path_ / name));
  return file.Publish(options.durability);
}

Status Folder::RemoveFile(const fs::path& name) const {
  if (!StaysBelow(name)) return NotBelow(*this, name);
  if (name.has_parent_path()) {
    const Result<Folder> folder = OpenBelow(name.parent_path());
    if (!folder) return folder.error().kind == ErrorKind::kNotFound ? Status() : folder.error();
    return folder->RemoveFile(name.filename());
  }
  if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return ErrnoError("removing", path_ / name, errno);
}

Status Folder::Rename(const std::string& temporary, const std::string& name, Durability durability) const {
  if (Uninterrupted([&] { return ::renameat(fd_.get(), temporary.c_str(), fd_.get(), name.c_str()); }) != 0)
    return ErrnoError("writing", path_ / name, errno);
  return durability == Durability::kSynced ? Sync() : Status();
}

Result<Folder> Folder::Duplicate() const {
  Fd fd(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0));
  if (!fd.valid()) return ErrnoError("opening folder", path_, errno);
  return Folder(std::move(fd), path_);
}

Status Folder::Sync() const {
  if (Uninterrupted([&] { return ::fsync(fd_.get()); }) == 0) return {};
  // Some file systems can't sync folders, and one that isn't readable can't be synced.
  if (errno == EINVAL || errno == EBADF || errno == EROFS || errno == ENOTSUP) return {};
  return ErrnoError("writing", path_, errno);
}

Status Folder::Lock(std::chrono::milliseconds limit) const {
  constexpr std::chrono::milliseconds kPause{10};
  for (std::chrono::milliseconds waited{0}; !TryLock(fd_); waited += kPause) {
    if (waited >= limit) {
      return InputError(
          fmt::format("{} is being written by another process; wait until it has finished", path_.string()));
    }
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

Result<TemporaryFile> TemporaryFile::MakeFor(const fs::path& target) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(FolderOf(target)));
  return MakeIn(folder, target.filename().string());
}

Result<TemporaryFile> TemporaryFile::MakeIn(const Folder& folder, const std::string& name, mode_t mode) {
  const fs::path target = folder.path() / name;
  if (!StaysBelow(name)) return NotBelow(folder, name);
  struct stat replaced{};
  const bool replaces =
      ::fstatat(folder.fd().get(), name.c_str(), &replaced, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(replaced.st_mode);
  if (replaces) mode = replaced.st_mode & 0777U;
  ASSIGN_OR_RETURN(Folder copy, folder.Duplicate());
  for (int i = 0; i < kMaxNames; ++i) {
    std::string temporary = TemporaryName(name);
    constexpr int kFlags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd fd(Uninterrupted([&] { return ::openat(folder.fd().get(), temporary.c_str(), kFlags, mode); }));
    if (!fd.valid() && errno == EEXIST) continue;
    if (!fd.valid()) return ErrnoError("writing", target, errno);
    TemporaryFile file(std::move(fd), std::move(copy), std::move(temporary), name);  // removes it after an error
    // The umask may have taken rights away that the file has. Without a right to give them, it stays stricter.
    if (replaces && ::fchmod(file.fd_.get(), mode) != 0 && errno != EPERM && errno != ENOTSUP)
      return ErrnoError("writing", target, errno);
    return file;
  }
  return Error{ErrorKind::kIo, fmt::format("writing {}: no free name for a temporary file", target.string())};
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : fd_(std::move(other.fd_)),
      folder_(std::move(other.folder_)),
      temporary_(std::exchange(other.temporary_, {})),
      name_(std::move(other.name_)) {}

TemporaryFile::~TemporaryFile() {
  if (!temporary_.empty()) ::unlinkat(folder_.fd().get(), temporary_.c_str(), 0);
}

Status TemporaryFile::Publish(Durability durability) {
  if (durability == Durability::kSynced && !SyncData(fd_)) return ErrnoError("writing", folder_.path() / name_, errno);
  // Some file systems report a full disk only now.
  if (::close(fd_.Release()) != 0 && errno != EINTR) return ErrnoError("writing", folder_.path() / name_, errno);
  RETURN_IF_ERROR(folder_.Rename(temporary_, name_, durability));
  temporary_.clear();
  return {};
}

Status PublishFile(const Fd& fd, const fs::path& temporary, const fs::path& target) {
  ASSIGN_OR_RETURN(const Folder folder, Folder::Open(FolderOf(target)));
  if (!SyncData(fd)) return ErrnoError("writing", target, errno);
  return folder.Rename(temporary.filename().string(), target.filename().string(), Durability::kSynced);
}

}  // namespace upskill
