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

// The whole file as bytes. Refuses folders, devices and files larger than `max_bytes`.
Result<std::string> ReadFile(const std::filesystem::path& path, std::uint64_t max_bytes = 256ULL << 20U);

// Whether a file is on the disk before it gets its name, so that it survives a crash of the machine.
enum class Durability { kSynced, kNotSynced };

// Writes a file so that a reader sees the old content or the new, never a part: a TemporaryFile, published. On an error
// nothing is left behind.
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content,
                           Durability durability = Durability::kSynced);

Status MakeFolders(const std::filesystem::path& path);

// Joins `name`, which comes from a model, a case or an archive, to `folder`. An empty or absolute name, a `..`
// component, a NUL or other control character is an error; the result never leaves the folder by its text.
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

// Renames a complete file, open as `fd`, to its final name in the same folder; with kSynced the file is on the disk
// before and the name after.
Status PublishFile(const Fd& fd, const std::filesystem::path& temporary, const std::filesystem::path& target,
                   Durability durability = Durability::kSynced);

// A new file beside `target`, readable by all, that gets its name when it is complete; else it is removed. Move-only.
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
  Status Publish(Durability durability = Durability::kSynced);  // once

 private:
  TemporaryFile(Fd fd, std::string path, std::filesystem::path target)
      : fd_(std::move(fd)), path_(std::move(path)), target_(std::move(target)) {}
  Fd fd_;
  std::string path_;  // empty once published
  std::filesystem::path target_;
};

// An append-only file. Each Append is one write(2) of a whole record, so that readers and other writers never see
// records mixed; a failed or short write is cut off again. One owner, not thread-safe.
class AppendFile {
 public:
  // Creates the file if it is absent. Refused while another AppendFile has it open, in whatever process (flock; a file
  // system without locks allows it). With `drop_torn_line`, bytes after the last newline (a record torn by a crash)
  // are cut off first.
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
