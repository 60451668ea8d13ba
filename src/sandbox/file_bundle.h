// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// The permissions of an answer's file with this content, before the umask: scripts are run by name.
std::filesystem::perms PermissionsOf(std::string_view content);

// A file in memory that can't be reached by name, read from its beginning, with such content.
Result<Fd> MemoryFile(const std::string& content);

// The same with a tar file of these files: relative paths that stay in their folder. Errors: a path that doesn't
// (ContainedPath); those of the system.
Result<Fd> TarOfFiles(const std::map<std::string, std::string>& files);

// The regular files of a tar file that a sandbox has made, at most so many bytes of them together: nothing about it is
// trusted. What isn't a file, doesn't stay in its folder (ContainedPath) or is beyond the limits is passed over, and so is
// all that follows damage.
struct TarContent {
  std::map<std::string, std::string> files;  // by plain names
  bool whole = true;                         // nothing was passed over for a limit or for damage
};
TarContent FilesOfTar(std::string_view tar, std::size_t most_files, std::size_t most_bytes);

}  // namespace upskill
