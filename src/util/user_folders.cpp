// SPDX-License-Identifier: Apache-2.0
#include "util/user_folders.h"

#include "util/text.h"

namespace upskill {

std::filesystem::path UserConfigFolder(const VariableLookup& variable) {
  if (!variable) return {};
  const auto folder_in = [&](const char* name) { return std::filesystem::path(Trim(variable(name).value_or(""))); };
  if (const std::filesystem::path config = folder_in("XDG_CONFIG_HOME"); !config.empty()) return config / "upskill";
  const std::filesystem::path home = folder_in("HOME");
  return home.empty() ? home : home / ".config" / "upskill";
}

}  // namespace upskill
