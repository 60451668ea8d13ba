// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace upskill {

// A zip archive of such files: names, which may be hostile, and contents.
inline std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string bytes(std::size_t{1} << 20U, '\0');
  std::size_t used = 0;
  archive* const zip = archive_write_new();
  archive_write_set_format_zip(zip);
  archive_write_open_memory(zip, bytes.data(), bytes.size(), &used);
  for (const auto& [name, content] : files) {
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, static_cast<la_int64_t>(content.size()));
    archive_write_header(zip, entry);
    archive_write_data(zip, content.data(), content.size());
    archive_entry_free(entry);
  }
  archive_write_close(zip);
  archive_write_free(zip);
  bytes.resize(used);
  return bytes;
}

}  // namespace upskill
