// SPDX-License-Identifier: Apache-2.0
#include "cli/models/models_by_key.h"

#include <array>
#include <string_view>
#include <utility>

#include "cli/env/catalog_file.h"
#include "model/api_key.h"
#include "model/catalog.h"

namespace upskill {

std::optional<ModelsByKey> FindModelsByKey(const Env& env) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 2> kTeachers = {
      {{"anthropic", "opus"}, {"openai", "openai.gpt-5"}}};
  const Result<Catalog> catalog = LoadCatalogOf(env);
  if (!catalog) return std::nullopt;
  for (const auto& [name, teacher] : kTeachers) {
    const Provider* const provider = catalog->FindProvider(name);
    if (provider == nullptr || provider->student.empty()) continue;
    if (!FindApiKey(*provider, std::string(teacher), env.variable)) continue;
    const std::string source = ApiKeySource(*provider, env.variable);
    if (!source.empty()) return ModelsByKey{std::string(teacher), provider->student, source};
  }
  return std::nullopt;
}

}  // namespace upskill
