// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

// SHA-256 (FIPS 180-4) as 64 lowercase hex digits.
std::string Sha256Hex(std::string_view bytes);

// Identity of a large file without reading all of it: SHA-256 over its size and 64 blocks of 64 KiB spread evenly
// from its first to its last byte (the whole file when it is smaller). 64 hex digits.
Result<std::string> FingerprintFile(const std::filesystem::path& path);

}  // namespace upskill
