// SPDX-License-Identifier: Apache-2.0
#include "util/json_file.h"

#include <system_error>

namespace upskill {
namespace {

namespace fs = std::filesystem;

// Whether one of the names after `folder` is a symbolic link; also if that can't be found out.
bool IsBehindLink(const fs::path& file, const fs::path& folder) {
  fs::path path = folder;
  const fs::path below = folder.empty() ? file : file.lexically_relative(folder);
  for (const fs::path& name : below) {
    if (name == "..") return !folder.empty();
    path /= name;
    std::error_code code;
    if (fs::is_symlink(fs::symlink_status(path, code)) || code) return true;
  }
  return false;
}

}  // namespace

Result<Json> ParseJsonFile(std::string_view text, const fs::path& file, const fs::path& folder) {
  return IsBehindLink(file, folder) ? ParseJson(text, file.string()) : ParseJsonShowingLine(text, file.string());
}

}  // namespace upskill
