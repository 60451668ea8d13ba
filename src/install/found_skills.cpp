// SPDX-License-Identifier: Apache-2.0
#include "install/found_skills.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "skill/skill.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

FoundSkill Described(const fs::path& folder, const std::vector<InstalledSkill>& installed) {
  FoundSkill found;
  found.folder = folder;
  found.name = folder.filename().string();
  if (const Result<Skill> skill = LoadSkill(folder)) {
    found.name = skill->name;
    found.description = skill->description;
  } else {
    found.problem = skill.error().message;
  }
  const auto known = std::find_if(installed.begin(), installed.end(),
                                  [&](const InstalledSkill& skill) { return skill.folder == folder; });
  if (known == installed.end()) return found;
  found.installed = *known;
  Result<PlaceState> state = StateOf(folder, &*known);
  found.state = state ? *std::move(state) : PlaceState{Presence::kChanged, {state.error().message}};
  return found;
}

}  // namespace

std::vector<fs::path> SkillFoldersIn(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code ignored;
    const bool is_hidden = entry->path().filename().string().starts_with('.');
    // A link that leads to nothing may be a skill whose source is gone.
    const bool is_broken = entry->is_symlink(ignored) && !fs::exists(entry->path(), ignored);
    if (!is_hidden && (is_broken || fs::exists(entry->path() / "SKILL.md", ignored))) found.push_back(entry->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::vector<FoundSkill>> FindSkillsOf(const Agent& agent, const fs::path& current,
                                             const VariableLookup& variable,
                                             const std::vector<InstalledSkill>& installed) {
  ASSIGN_OR_RETURN(const std::vector<SkillsFolder> folders, FoldersReadBy(agent, current, variable));
  std::vector<FoundSkill> skills;
  for (const SkillsFolder& place : folders) {
    for (const fs::path& folder : SkillFoldersIn(place.folder)) {
      FoundSkill found = Described(folder, installed);
      found.scope = place.project.empty() ? InstallScope::kUser : InstallScope::kProject;
      skills.push_back(std::move(found));
    }
  }
  return skills;
}

}  // namespace upskill
