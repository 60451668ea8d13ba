// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "install/git_source.h"
#include "install/skill_files.h"
#include "util/result.h"

namespace upskill {

// skills-lock.json, which Vercel's `skills` program keeps in a project (vercel-labs/skills, src/local-lock.ts). It
// names no commit and no agents, so it is only read: writing it would lose what upskill.lock has.

inline constexpr const char* kSkillsCliLockFile = "skills-lock.json";

struct SkillsCliEntry {
  std::string name;
  GitSource git;        // without a URL: `folder` has it
  std::string folder;   // of a local source, relative to the project
  std::string sha256;   // `computedHash`: SkillsCliHash of the source's folder
  std::string problem;  // why the source can't be used; empty: it can
};

// Errors: merge-conflict markers, another version, an entry of another form.
Result<std::vector<SkillsCliEntry>> ParseSkillsCliLock(std::string_view text, const std::string& file);

// Error (kNotFound): the project has none.
Result<std::vector<SkillsCliEntry>> LoadSkillsCliLock(const std::filesystem::path& project);

// The SHA-256 of names and contents, one after another, in the order in which JavaScript's localeCompare sorts the
// names; without node_modules. Error: a name with other characters than ASCII, whose place in that order depends on the
// locale.
Result<std::string> SkillsCliHash(const FileMap& files);

}  // namespace upskill
