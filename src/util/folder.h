// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// How folders below a folder are looked up: by one openat2(2), or one after another where the kernel doesn't have it or
// a sandbox forbids it.
enum class Lookup { kKernel, kStepwise };

struct FileOptions {
  Durability durability = Durability::kSynced;
  mode_t mode = 0666;  // of a new file, less the umask; a file that is replaced passes its mode on
};

// An open folder, below which files are written. The folder itself is named by the user, who may name a link. What is
// below may come from elsewhere (a skill, a run): no link there is followed, so that nothing is written outside, not
// even if another process exchanges a folder for a link meanwhile. Move-only, not thread-safe.
class Folder {
 public:
  static Result<Folder> Open(const std::filesystem::path& path);
  static Result<Folder> Make(const std::filesystem::path& path);  // with the folders that it is in

  // `name` is relative, without `.` and `..`, and may have several parts. A link in it is an error.
  Result<Folder> OpenBelow(const std::filesystem::path& name, Lookup lookup = Lookup::kKernel) const;
  Result<Folder> MakeBelow(const std::filesystem::path& name, Durability durability = Durability::kSynced,
                           Lookup lookup = Lookup::kKernel) const;

  // Writes a file, with the folders that it is in: readers see either the old or the new content. A link with the
  // file's own name is replaced. An error leaves no file behind. Known secrets are masked (util/known_secrets.h).
  Status WriteFile(const std::filesystem::path& name, std::string_view content, const FileOptions& options = {}) const;

  // Removes a file, or a link, if it is there.
  Status RemoveFile(const std::filesystem::path& name) const;

  // Gives a complete file of this folder its final name; with kSynced, the folder is synced to the disk.
  Status Rename(const std::string& temporary, const std::string& name, Durability durability) const;

  Status Sync() const;  // its names to the disk
  Result<Folder> Duplicate() const;

  // Takes the folder's lock, which this object holds until it is destroyed; waits for another process up to `limit`.
  // File systems without locks grant it.
  Status Lock(std::chrono::milliseconds limit) const;

  const Fd& fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  Folder(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Fd fd_;
  std::filesystem::path path_;  // for messages
};

// A new file next to the one that it replaces when it is complete; removed otherwise. Its name can't be guessed.
// Move-only.
class TemporaryFile {
 public:
  static Result<TemporaryFile> MakeFor(const std::filesystem::path& target);
  static Result<TemporaryFile> MakeIn(const Folder& folder, const std::string& name, mode_t mode = 0666);
  ~TemporaryFile();
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&& other) = delete;
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const Fd& fd() const { return fd_; }
  std::filesystem::path path() const { return folder_.path() / temporary_; }
  Status Publish(Durability durability = Durability::kSynced);  // at most once

 private:
  TemporaryFile(Fd fd, Folder folder, std::string temporary, std::string name)
      : fd_(std::move(fd)), folder_(std::move(folder)), temporary_(std::move(temporary)), name_(std::move(name)) {}

  Fd fd_;
  Folder folder_;
  std::string temporary_;  // empty after publishing
  std::string name_;
};

// Syncs a complete file, open as `fd`, to the disk and gives it its final name in the same folder.
Status PublishFile(const Fd& fd, const std::filesystem::path& temporary, const std::filesystem::path& target);

// Takes the lock of an open file or folder (flock). False: another process, or another descriptor of this one, has it.
bool TryLock(const Fd& fd);

}  // namespace upskill
