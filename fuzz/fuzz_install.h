// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What the fuzzers do with skills that are installed or validated.

// An archive of a skill.
void FuzzSkillArchive(std::string_view input);
std::vector<std::string> SkillArchiveSeeds();

// An installed.json.
void FuzzInstalled(std::string_view input);
std::vector<std::string> InstalledSeeds();

// An upskill.lock, and a skills-lock.json.
void FuzzSkillLock(std::string_view input);
std::vector<std::string> SkillLockSeeds();

// The source of a skill in a git repository.
void FuzzGitSource(std::string_view input);

// A frontmatter, as `upskill validate` reads it.
void FuzzStrictYaml(std::string_view input);

}  // namespace upskill
