// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/result.h"

namespace upskill {

// The folders with a SKILL.md in a tree, sorted, each as `root` with the rest of its path. Links are not followed; .git
// and node_modules are left out, and so is what is inside a skill. Errors: a folder that can't be read, a tree with
// more than 100,000 entries or with more than 32 levels.
Result<std::vector<std::string>> FindSkillFolders(const std::filesystem::path& root);

// The regular files below a skill's folder, sorted, by their paths in it. Links are neither listed nor followed, .git
// and node_modules are left out, and so is what comes after 2,000 files or cannot be read.
std::vector<std::string> ListSkillFiles(const std::filesystem::path& folder);

}  // namespace upskill
