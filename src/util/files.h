// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// Reads a whole file as bytes. Folders, devices and files larger than `max_bytes` are errors.
Result<std::string> ReadFile(const std::filesystem::path& path, std::uint64_t max_bytes = 256ULL << 20U);

// Whether a file is synced to the disk before it gets its name, so that it survives a crash of the machine.
enum class Durability { kSynced, kNotSynced };

// Writes a file in such a way that readers see either the old or the new content, never a part of it. A link with this
// name is replaced, not followed. An error leaves no file behind. Known secrets are masked (util/known_secrets.h). For
// a path that the user has named; what is written below a folder that may come from elsewhere goes through Folder
// (util/folder.h).
Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content,
                           Durability durability = Durability::kSynced);

// Writes a file that the user has named: atomically, except for devices and pipes (/dev/stderr, a fifo), which are
// written to, not replaced. What goes to a terminal is escaped (SafeForTerminal). Known secrets are masked. Error
// (kInput): a file with the name of a run's record (samples.jsonl, plan.json, ledger.jsonl …) is there already.
Status WriteOutputFile(const std::filesystem::path& path, std::string_view content);

// Creates a folder and those that it is in, so that they survive a crash of the machine.
Status MakeFolders(const std::filesystem::path& path);

// The folder that a file is in; "." for a bare name.
std::filesystem::path FolderOf(const std::filesystem::path& file);

// Joins `name`, which comes from a model, a case or an archive, to `folder`. An empty or absolute name, a `..`
// component, a NUL or another control character is an error; the resulting path is always inside the folder.
Result<std::filesystem::path> ContainedPath(const std::filesystem::path& folder, const std::string& name);

// A relative name as the file system sees it, so that one file has one name: "a//b" and "a/./b" are "a/b".
std::string PlainFileName(const std::string& name);

// Why files of such names can't be in one folder: a name is a file and a folder, or too long; empty if they can.
// `files`: by their plain names.
std::string ConflictOfFiles(const std::map<std::string, std::string>& files);

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

// Opens a file for reading without waiting at a pipe. Error: it can't be opened, or isn't a regular file; `hint` says
// what to do then.
Result<Fd> OpenRegularFile(const std::filesystem::path& path, std::string_view hint = "");

// Writes all of it. `path` is for the message of an error.
Status WriteAll(const Fd& fd, std::string_view content, const std::filesystem::path& path);

// "reading x: No such file or directory", from errno.
Error ErrnoError(const std::string& action, const std::filesystem::path& path, int error_number);

// Repeats a system call that a signal interrupts.
template <typename Call>
auto Uninterrupted(const Call& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

}  // namespace upskill
