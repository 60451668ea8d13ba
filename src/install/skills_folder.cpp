// SPDX-License-Identifier: Apache-2.0
#include "install/skills_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace upskill {
namespace {

namespace fs = std::filesystem;

}  // namespace

Result<std::vector<SkillsFolder>> FoldersReadBy(const Agent& agent, const fs::path& current,
                                                const VariableLookup& variable) {
  std::vector<SkillsFolder> folders;
  const auto add = [&](const fs::path& project, const fs::path& folder) {
    const bool is_known =
        std::any_of(folders.begin(), folders.end(), [&](const SkillsFolder& known) { return known.folder == folder; });
    if (!is_known) folders.push_back({project, folder});
  };
  const fs::path root = ProjectRootOf(current);
  for (fs::path at = agent.upward ? current : root;; at = at.parent_path()) {
    for (const std::string& folder : agent.project_folders) add(root, at / folder);
    if (at == root || at == at.parent_path()) break;
  }
  ASSIGN_OR_RETURN(const std::vector<fs::path> of_user, UserFoldersOf(agent, variable));
  for (const fs::path& folder : of_user) add({}, folder);
  return folders;
}

Result<std::vector<InstallTarget>> TargetsFor(const std::vector<const Agent*>& agents, InstallScope scope,
                                              const fs::path& current, const VariableLookup& variable) {
  std::vector<InstallTarget> targets;
  for (const Agent* const agent : agents) {
    SkillsFolder place;
    if (scope == InstallScope::kProject) {
      place.project = ProjectRootOf(current);
      place.folder = place.project / agent->project_folders.front();
    } else {
      ASSIGN_OR_RETURN(const std::vector<fs::path> folders, UserFoldersOf(*agent, variable));
      if (folders.empty()) {
        if (agent != agents.back() || !targets.empty()) continue;  // one of `all`
        return InputError(fmt::format("{} has no folder for all projects; use --project", agent->name));
      }
      place.folder = folders.front();
    }
    auto target = std::find_if(targets.begin(), targets.end(),
                               [&](const InstallTarget& known) { return known.place.folder == place.folder; });
    if (target == targets.end()) target = targets.insert(target, {std::move(place), {}});
    if (std::find(target->agents.begin(), target->agents.end(), agent->id) == target->agents.end())
      target->agents.push_back(agent->id);
  }
  return targets;
}

Result<Folder> MakeSkillsFolder(const SkillsFolder& place) {
  if (place.project.empty()) return Folder::Make(place.folder);
  ASSIGN_OR_RETURN(const Folder project, Folder::Open(place.project));
  return project.MakeBelow(place.folder.lexically_relative(place.project));
}

Result<Folder> OpenSkillsFolder(const SkillsFolder& place) {
  if (place.project.empty()) return Folder::Open(place.folder);
  ASSIGN_OR_RETURN(const Folder project, Folder::Open(place.project));
  return project.OpenBelow(place.folder.lexically_relative(place.project));
}

}  // namespace upskill
