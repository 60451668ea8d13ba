// SPDX-License-Identifier: Apache-2.0
#include "report/derived_file.h"

#include "util/files.h"

namespace upskill {

Status WriteDerivedFile(const std::filesystem::path& path, std::string_view content) {
  Status written = WriteFileAtomically(path, content, Durability::kNotSynced);
  if (written || written.error().kind != ErrorKind::kNotFound) return written;
  // Most files go where others already are, so folders are made only where one is missing.
  RETURN_IF_ERROR(MakeFolders(path.parent_path()));
  return WriteFileAtomically(path, content, Durability::kNotSynced);
}

}  // namespace upskill
