// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "util/file_hash.h"
#include "util/result.h"

namespace upskill {

// The SHA-256 of a model's file, or for the first file of a split model (`…-00001-of-00003.gguf`) that of the hashes of
// all parts. 64 hex digits.
Result<std::string> HashGguf(const std::filesystem::path& path, const FileHashOptions& options);

}  // namespace upskill
