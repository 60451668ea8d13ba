// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/env/env.h"
#include "cli/models/package_fetch.h"
#include "util/result.h"

namespace upskill {

// Compilers that checks may need and that `upskill toolchain add` downloads, pinned.
struct Toolchain {
  std::string name;     // cuda
  std::string version;  // of its main program
  std::string about;
  std::string prefix;  // of the files in the packages that belong to it; the rest of their path is kept
  std::vector<PackageFile> packages;
  std::uint64_t unpacked_bytes = 0;  // about
  std::string licence;               // where to read it
};

std::span<const Toolchain> KnownToolchains();
// nullptr for an unknown name.
const Toolchain* FindKnownToolchain(std::string_view name);

// Where it is installed: in the user's cache (of root: in /var/cache/upskill, because commands in the sandbox, which
// have no rights of root, read nothing below /root), or in /var/cache/upskill for all users. Nothing if it isn't.
std::optional<std::filesystem::path> InstalledToolchain(const Toolchain& toolchain, const Env& env);

// The folders of all known toolchains that are installed. `upskill check`, `eval` and `recheck` let commands read them.
std::vector<std::filesystem::path> InstalledToolchains(const Env& env);

// The installed toolchains that a sandbox's commands can read; prints a warning for each other one.
std::vector<std::filesystem::path> ReadableToolchains(const Env& env);

// Downloads and unpacks it, unless it is there; returns its folder. Error (kInvalidInput): a sandbox's commands
// couldn't read it there. After an interruption, the next call resumes the download where it stopped, and unpacks from
// the start.
Result<std::filesystem::path> InstallToolchain(const Toolchain& toolchain, const Env& env);

// Removes what the user has installed. Error (kNotFound): there is nothing.
Status RemoveToolchain(const Toolchain& toolchain, const Env& env);

// Unpacks the packages' files that begin with the prefix into `folder`, which must not exist; those in a folder `bin`
// become executable. Errors: a damaged package, one without such files, the disk.
Status UnpackPackages(const std::vector<std::filesystem::path>& archives, std::string_view prefix,
                      const std::filesystem::path& folder);

}  // namespace upskill
