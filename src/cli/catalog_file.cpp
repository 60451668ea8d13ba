// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog_file.h"

#include <filesystem>

#include "util/files.h"

namespace upskill {

Result<Catalog> LoadCatalogOf(const Env& env) {
  std::filesystem::path file;
  if (const auto named = env.variable("UPSKILL_MODELS"); named && !named->empty()) {
    file = *named;
  } else if (const auto home = env.variable("HOME"); home && !home->empty()) {
    std::error_code code;
    const std::filesystem::path own = std::filesystem::path(*home) / ".config/upskill/models.toml";
    if (std::filesystem::exists(own, code)) file = own;
  }
  if (file.empty()) return LoadCatalog();
  ASSIGN_OR_RETURN(std::string text, ReadFile(file, 1U << 20U));
  return LoadCatalog(CatalogText{std::move(text), file.string()});
}

}  // namespace upskill
