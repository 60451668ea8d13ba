// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "util/files.h"
#include "util/hash.h"
#include "util/result.h"

namespace upskill {

// A file of a repository as listed by the Hub.
struct HubFile {
  std::string path;  // in the repository
  std::uint64_t size = 0;
  std::string hash;  // its ETag and the name of its blob: SHA-256 with LFS, else git's SHA-1 of the blob
  bool lfs = false;
};

// The first bytes of a file, stored at `BLOB.incomplete` until all are present. Owns the file while it is open. One
// thread at a time; size() from any thread.
class HubFilePart {
 public:
  // Opens a partial download; drops bytes that can't be the start of this GGUF.
  static Result<HubFilePart> Open(const std::filesystem::path& path, const HubFile& file);

  // Errors: kIo if the disk fails, kInput if it isn't a GGUF file or is longer than listed.
  Status Append(std::string_view bytes);
  Status Restart();  // drops all bytes
  void Remove();     // deletes the file

  std::uint64_t size() const { return size_->load(); }

  // Whether the bytes, which must be complete, have the listed hash.
  bool HasRightHash();
  // Syncs the file to the disk and renames it to its final name.
  Status Finish(const std::filesystem::path& blob);

 private:
  HubFilePart(Fd fd, std::filesystem::path path, HubFile file);
  Result<bool> TakeUp();
  void Count(std::string_view bytes);
  StreamingHash NewHash() const;

  Fd fd_;
  std::filesystem::path path_;
  HubFile file_;
  StreamingHash hash_;
  std::string magic_;  // the first four bytes
  std::unique_ptr<std::atomic<std::uint64_t>> size_;
};

}  // namespace upskill
