// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "util/files.h"
#include "util/result.h"

namespace upskill {

// The permissions of an answer's file with this content, before the umask: scripts and programs are run by
// name.
std::filesystem::perms PermissionsOf(std::string_view content);

// A file in memory that can't be reached by name, read from its beginning, with such content.
Result<Fd> MemoryFile(const std::string& content);

// The same with a tar file of these files: relative paths that stay in their folder. Errors: a path that doesn't
// (ContainedPath); those of the system.
Result<Fd> TarOfFiles(const std::map<std::string, std::string>& files);

}  // namespace upskill
