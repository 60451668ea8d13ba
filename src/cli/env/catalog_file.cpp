// SPDX-License-Identifier: Apache-2.0
#include "cli/env/catalog_file.h"

#include <filesystem>

#include "util/files.h"
#include "util/user_folders.h"

namespace upskill {

Result<Catalog> LoadCatalogOf(const Env& env) {
  std::filesystem::path file;
  if (const auto named = env.variable("UPSKILL_MODELS"); named && !named->empty()) {
    file = *named;
  } else if (const std::filesystem::path folder = UserConfigFolder(env.variable); !folder.empty()) {
    std::error_code code;
    if (std::filesystem::exists(folder / "models.toml", code)) file = folder / "models.toml";
  }
  if (file.empty()) return LoadCatalog();
  ASSIGN_OR_RETURN(std::string text, ReadFile(file, 1U << 20U));
  return LoadCatalog(CatalogText{std::move(text), file.string()});
}

}  // namespace upskill
