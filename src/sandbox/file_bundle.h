// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "sandbox/sandbox.h"
#include "util/files.h"
#include "util/result.h"

namespace upskill {

// The permissions of an answer's file with this content, before the umask: scripts and programs are run by name.
std::filesystem::perms PermissionsOf(std::string_view content);

// A file in memory that can't be reached by name, read from its beginning, with such content.
Result<Fd> MemoryFile(const std::string& content);

// A MemoryFile with a tar file of these files: relative paths that stay in their folder; one that ends in `/` is a
// folder. Errors: a path that doesn't (ContainedPath); those of the system.
Result<Fd> TarOfFiles(const std::map<std::string, std::string>& files);

// The content of a workspace, in the form of TarOfFiles.
struct FileBundle {
  std::map<std::string, std::string> files;  // with the empty folders
  std::size_t left_out = 0;                  // links, devices, names that can't be stored
  bool too_much = false;                     // for the limits; `files` is incomplete then
};

// The most bytes that a tar file of so many files has.
std::size_t MostTarBytes(const CollectLimits& limits);

// What a tar file contains that nobody vouches for. Of a damaged one, what can be read.
FileBundle FilesOfTar(std::string_view tar, const CollectLimits& limits);

// What a folder contains, without following links.
Result<FileBundle> FilesOfFolder(const std::filesystem::path& folder, const CollectLimits& limits);

}  // namespace upskill
