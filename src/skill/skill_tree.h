// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
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

// Whether a file of a skill, by its path in the skill's folder, measures the skill instead of being a part of it:
// cases, answers to them, runs, what the skill was made from. Neither agents nor students get it. The places:
// skill_meta.json, lineage.json, tests.json, tests/, answers/, evals/, upskill.json, runs/, and of other tools
// promptfooconfig.yaml, eval_queries.json, .upskill/, in any case.
bool IsEvaluationFile(std::string_view name);

// What a suite that is kept in a skill's folder hides there, by paths in the folder: the suite's file and the folder of
// answers beside it (docs/suites.md). Empty: the suite is elsewhere.
std::vector<std::string> HiddenBySuite(const std::filesystem::path& folder, const std::filesystem::path& suite);

// Whether `name` is one of the paths, or below one of them.
bool IsAtOrBelow(std::string_view name, const std::vector<std::string>& paths);

}  // namespace upskill
