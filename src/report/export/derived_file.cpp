// SPDX-License-Identifier: Apache-2.0
#include "report/export/derived_file.h"

namespace upskill {

Status WriteDerivedFile(const Folder& folder, const std::filesystem::path& name, std::string_view content) {
  return folder.WriteFile(name, content, {Durability::kNotSynced});
}

}  // namespace upskill
