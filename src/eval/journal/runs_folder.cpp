// SPDX-License-Identifier: Apache-2.0
#include "eval/journal/runs_folder.h"

#include <system_error>

namespace upskill {

Result<Folder> MakeRunsFolder(const std::filesystem::path& path) {
  std::error_code code;
  const bool is_new = !std::filesystem::exists(path, code);
  Result<Folder> folder = Folder::Make(path);
  if (!folder) return folder.error().With("opening the runs folder");
  if (is_new) RETURN_IF_ERROR(folder->WriteFile(".gitignore", "*\n"));
  return folder;
}

}  // namespace upskill
