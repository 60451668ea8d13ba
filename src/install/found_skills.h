// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "install/agents.h"
#include "install/install.h"
#include "install/install_records.h"
#include "install/skills_folder.h"
#include "util/result.h"
#include "util/user_folders.h"

namespace upskill {

// A skill in one of the folders that an agent reads.
struct FoundSkill {
  std::string name;  // of the frontmatter, else the folder's
  std::string description;
  std::filesystem::path folder;
  InstallScope scope = InstallScope::kProject;
  std::string problem;                      // why the skill can't be read; empty: it can
  std::optional<InstalledSkill> installed;  // what is remembered of its installation; nothing: not by upskill
  PlaceState state;                         // whether it was changed since
};

// The folders with a SKILL.md in `folder`, and links that lead to nothing, by name. Hidden ones are being installed, or
// aren't skills.
std::vector<std::filesystem::path> SkillFoldersIn(const std::filesystem::path& folder);

// The skills that the agent finds for a user who works in `current` (absolute), in the order in which its folders are
// searched, and by name in each. Error: HOME isn't set.
Result<std::vector<FoundSkill>> FindSkillsOf(const Agent& agent, const std::filesystem::path& current,
                                             const VariableLookup& variable,
                                             const std::vector<InstalledSkill>& installed);

}  // namespace upskill
