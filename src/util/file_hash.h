// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "util/clock.h"
#include "util/result.h"

namespace upskill {

struct FileHashOptions {
  std::filesystem::path remembered;  // where hashes are remembered; empty: nowhere
  const Clock* clock = nullptr;
  std::function<void()> on_slow;  // called once if hashing takes more than a second; may be null
};

// The SHA-256 of a whole file as 64 hex digits. It is remembered by the file's device, inode, size and times, so that a
// large file is read once. What is remembered is ignored unless it is well-formed and only this user can write to it,
// and it is lost when it can't be written.
Result<std::string> HashFile(const std::filesystem::path& path, const FileHashOptions& options);

}  // namespace upskill
