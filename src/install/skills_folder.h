// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "install/agents.h"
#include "util/folder.h"
#include "util/result.h"
#include "util/user_folders.h"

namespace upskill {

enum class InstallScope { kProject, kUser };

// A folder in which agents find skills, as absolute paths.
struct SkillsFolder {
  std::filesystem::path project;  // the root of the project that it belongs to; empty: it is one of the user's own
  std::filesystem::path folder;
};

// A folder into which skills are installed, and the agents (Agent::id) that this is for.
struct InstallTarget {
  SkillsFolder place;
  std::vector<std::string> agents;
};

// What an agent reads for a user who works in `current` (absolute), project folders first. Error: HOME isn't set.
Result<std::vector<SkillsFolder>> FoldersReadBy(const Agent& agent, const std::filesystem::path& current,
                                                const VariableLookup& variable);

// Where to install for these agents; those that share a folder are one target. Error: HOME isn't set (kUser).
Result<std::vector<InstallTarget>> TargetsFor(const std::vector<const Agent*>& agents, InstallScope scope,
                                              const std::filesystem::path& current, const VariableLookup& variable);

// Opens the folder, and makes it with those that it is in. No link below a project is followed: it may come from
// elsewhere.
Result<Folder> MakeSkillsFolder(const SkillsFolder& place);

// The same for a folder that is there.
Result<Folder> OpenSkillsFolder(const SkillsFolder& place);

}  // namespace upskill
