// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

#include "skill/formats/readers.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxScenarios = 1000;

fs::path BaseOf(const fs::path& file) {
  fs::path folder = FolderOf(file);
  if (folder.filename() != ".upskill") return folder;
  return folder.has_parent_path() ? folder.parent_path() : fs::path(".");
}

bool Names(const Json& scenario, const fs::path& base, const fs::path& skill) {
  const Json* const skills = FindMember(scenario, "skills");
  if (skills == nullptr || !skills->is_array()) return false;
  return std::any_of(skills->begin(), skills->end(), [&](const Json& name) {
    std::error_code code;
    return name.is_string() && fs::equivalent(base / name.get<std::string>(), skill, code);
  });
}

std::string NameOf(const Json& scenario, std::size_t number) {
  const Json* const id = FindMember(scenario, "id");
  return id == nullptr || id->is_structured() ? fmt::format("scenario-{}", number) : TextOf(*id);
}

void AddWarnings(const Json& scenario, const std::string& place, std::vector<std::string>& warnings) {
  if (const Json* const skills = FindMember(scenario, "skills"); skills != nullptr && skills->size() > 1)
    warnings.push_back(fmt::format("{}: it is for {} together; one skill at a time is measured here", place,
                                   Counted(skills->size(), "skill")));
  if (JsonGet(Member(scenario, "judge"), "enabled", false))
    warnings.push_back(
        fmt::format("{}: the scores of its judge are not measured; write what must hold as checks of the "
                    "type \"judge\" into its tests",
                    place));
}

// An id for the cases that have none, then the scenario before all of them.
void NameCases(const std::string& scenario, std::vector<ConvertedCase>& cases) {
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Json& one = cases[i].json;
    if (!one.is_object()) continue;
    const Json* id = FindMember(one, "id");
    if (id == nullptr) id = FindMember(one, "name");
    const std::string own = id == nullptr || id->is_structured() ? fmt::format("case-{}", i + 1) : TextOf(*id);
    one["id"] = fmt::format("{}/{}", scenario, own);
  }
}

}  // namespace

bool IsCiManifest(const Json& document) {
  const Json* const scenarios = FindMember(document, "scenarios");
  return scenarios != nullptr && scenarios->is_array() && !scenarios->empty() &&
         std::any_of(scenarios->begin(), scenarios->end(), [](const Json& scenario) {
           return FindMember(scenario, "skills") != nullptr && FindMember(scenario, "tests") != nullptr;
         });
}

bool ManifestNames(const Json& manifest, const fs::path& file, const fs::path& skill) {
  if (!IsCiManifest(manifest)) return false;
  const Json& scenarios = manifest.at("scenarios");
  return std::any_of(scenarios.begin(), scenarios.end(),
                     [&](const Json& scenario) { return Names(scenario, BaseOf(file), skill); });
}

Result<ConvertedSuite> ConvertCiManifest(const Json& manifest, const fs::path& file, const fs::path& skill,
                                         const std::function<Result<ConvertedSuite>(const fs::path&)>& read) {
  ConvertedSuite suite;
  const Json& scenarios = manifest.at("scenarios");
  if (scenarios.size() > kMaxScenarios)
    return InputError(fmt::format("{}: more than {} scenarios; divide it", file.string(), kMaxScenarios));
  const bool of_skill = !skill.empty() && ManifestNames(manifest, file, skill);
  if (!skill.empty() && !of_skill)
    suite.warnings.push_back(
        fmt::format("{}: no scenario names this skill, so those of all skills are used", file.string()));
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Json& scenario = scenarios[i];
    const std::string tests = StringAt(scenario, "tests");
    if (of_skill && !Names(scenario, BaseOf(file), skill)) {
      if (const Result<fs::path> others = ContainedPath(BaseOf(file), tests)) suite.files.cases.push_back(*others);
      continue;
    }
    const std::string name = NameOf(scenario, i + 1);
    const std::string place = fmt::format("{}: scenario {} (\"{}\")", file.string(), i + 1, ExcerptLine(name, 60));
    if (tests.empty()) return InputError(place + ": no \"tests\"; name its file of cases");
    ASSIGN_OR_RETURN(const fs::path path, ContainedPath(BaseOf(file), tests).With(place + ": \"tests\""));
    ASSIGN_OR_RETURN(ConvertedSuite cases, read(path).With(place));
    NameCases(name, cases.cases);
    AddWarnings(scenario, place, suite.warnings);
    suite.cases.insert(suite.cases.end(), std::make_move_iterator(cases.cases.begin()),
                       std::make_move_iterator(cases.cases.end()));
    suite.warnings.insert(suite.warnings.end(), cases.warnings.begin(), cases.warnings.end());
    suite.files.cases.push_back(path);
    suite.files.cases.insert(suite.files.cases.end(), cases.files.cases.begin(), cases.files.cases.end());
    suite.files.values.insert(suite.files.values.end(), cases.files.values.begin(), cases.files.values.end());
  }
  return suite;
}

}  // namespace upskill
