// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "util/result.h"

namespace upskill {

struct ArchiveLimits {
  std::size_t entry_bytes = 0;  // of one unpacked entry
  std::size_t total_bytes = 0;  // of all entries that are read
};

// Goes through the entries of a zip archive in memory, in their order; nothing is written to disk. `wanted` says by its
// name whether an entry is unpacked, `use` takes its content. Names that leave their folder (absolute, `..`) and
// entries that are no regular files are never asked for; the count of those is the result.
// Errors: damaged archive, unknown compression, an entry or the whole larger than the limits.
Result<std::size_t> ReadZipEntries(std::string_view bytes, const std::string& source, const ArchiveLimits& limits,
                                   const std::function<bool(const std::string&)>& wanted,
                                   const std::function<Status(const std::string&, std::string)>& use);

}  // namespace upskill
