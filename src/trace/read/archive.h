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

// Entries of an archive that unpack to more than this together are an error, whatever the limits.
std::size_t MaxUnpackedBytes(std::size_t archive_bytes);

// Whether a zip archive is whole: its directory, and all entries that the directory lists, lie inside the file.
Status CheckZipDirectory(std::string_view bytes, const std::string& source);

// An entry of a zip archive, as the archive describes it. Nothing about the name has been checked.
struct ZipEntry {
  std::string name;     // empty: it isn't UTF-8
  bool is_file = true;  // else a symbolic link or something else that isn't a folder either
  bool executable = false;
};

// Visits the entries of a zip archive in memory that aren't folders, in order; nothing is written to disk. `wanted`
// says whether an entry is unpacked and passed to `use`. Errors: damaged archive, unknown compression, an entry or the
// total larger than the limits, an error of `wanted` or `use`. An archive without its end is read as far as it goes;
// CheckZipDirectory tells.
Status VisitZipEntries(std::string_view bytes, const std::string& source, const ArchiveLimits& limits,
                       const std::function<Result<bool>(const ZipEntry&)>& wanted,
                       const std::function<Status(const ZipEntry&, std::string)>& use);

// Visits the entries of a zip archive in memory, in order; nothing is written to disk. Entries for whose name `wanted`
// returns true are unpacked and passed to `use`. Entries whose path leaves the archive (absolute, `..`) or that aren't
// regular files are skipped; returns their number. Errors: those of VisitZipEntries.
Result<std::size_t> ReadZipEntries(std::string_view bytes, const std::string& source, const ArchiveLimits& limits,
                                   const std::function<bool(const std::string&)>& wanted,
                                   const std::function<Status(const std::string&, std::string)>& use);

}  // namespace upskill
