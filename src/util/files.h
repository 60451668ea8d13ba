// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// Reads a whole file as bytes. Folders, devices and files larger than `max_bytes` are errors.
Result<std::string> ReadFile(const std::filesystem::path& path, std::uint64_t max_bytes = 256ULL << 20U);

// Whether a file is synced to the disk before it gets its name, so that it survives a crash of the machine.
enum class Durability { kSynced, kNotSynced };

// Writes a file in such a way that readers see either the old or the new content, never a part of it (see
// TemporaryFile). An error leaves no file behind. Known secrets are masked (util/known_secrets.h).
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content,
                           Durability durability = Durability::kSynced);

Status MakeFolders(const std::filesystem::path& path);

// Joins `name`, which comes from a model, a case or an archive, to `folder`. An empty or absolute name, a `..`
// component, a NUL or another control character is an error; the resulting path is always inside the folder.
Result<std::filesystem::path> ContainedPath(const std::filesystem::path& folder, const std::string& name);

// Move-only owner of a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { Close(); }
  Fd(Fd&& other) noexcept : fd_(other.Release()) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release();
  void Close();

 private:
  int fd_ = -1;
};

// Renames a complete file, open as `fd`, to its final name in the same folder. With kSynced, the file is synced to the
// disk before the rename and the folder after it.
Status PublishFile(const Fd& fd, const std::filesystem::path& temporary, const std::filesystem::path& target,
                   Durability durability = Durability::kSynced);

// A new file next to `target`, readable by all users, that is renamed to `target` when complete and removed otherwise.
// Move-only.
class TemporaryFile {
 public:
  static Result<TemporaryFile> MakeFor(const std::filesystem::path& target);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const Fd& fd() const { return fd_; }
  const std::string& path() const { return path_; }
  Status Publish(Durability durability = Durability::kSynced);  // at most once

 private:
  TemporaryFile(Fd fd, std::string path, std::filesystem::path target)
      : fd_(std::move(fd)), path_(std::move(path)), target_(std::move(target)) {}
  Fd fd_;
  std::string path_;  // empty after publishing
  std::filesystem::path target_;
};

// An append-only file. Each Append is one write(2) of a whole record without known secrets, so that readers and other
// writers never see interleaved records; a failed or short write is undone. One owner, not thread-safe.
class AppendFile {
 public:
  // Creates the file if it doesn't exist. Fails while another AppendFile, in any process, has it open (flock; not
  // detected on file systems without locks). With `drop_torn_line`, bytes after the last newline (a record cut off by a
  // crash) are removed first.
  static Result<AppendFile> Open(const std::filesystem::path& path, bool drop_torn_line);

  Status Append(std::string_view record);
  Status Sync();  // to the disk (fdatasync)

 private:
  AppendFile(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Fd fd_;
  std::filesystem::path path_;
};

// "reading x: No such file or directory", from errno.
Error ErrnoError(const std::string& action, const std::filesystem::path& path, int error_number);

}  // namespace upskill
