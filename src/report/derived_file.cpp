// SPDX-License-Identifier: Apache-2.0
#include "report/derived_file.h"

#include <cerrno>
#include <fstream>
#include <system_error>

#include "util/files.h"

namespace upskill {

Status WriteDerivedFile(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path temporary = path.parent_path() / ("." + path.filename().string() + ".new");
  std::error_code code;
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  if (!out) {  // most files go where others already are, so folders are made only where one is missing
    RETURN_IF_ERROR(MakeFolders(path.parent_path()));
    out.open(temporary, std::ios::binary | std::ios::trunc);
  }
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  int number = out ? 0 : errno;
  if (out) {
    std::filesystem::rename(temporary, path, code);
    number = code.value();
  }
  if (out && number == 0) return {};
  std::filesystem::remove(temporary, code);
  return ErrnoError("writing", path, number);
}

}  // namespace upskill
