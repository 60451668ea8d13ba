// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace upskill {

// What the fuzzers do with skills that are installed.

// An archive of a skill.
void FuzzSkillArchive(std::string_view input);
std::vector<std::string> SkillArchiveSeeds();

// An installed.json.
void FuzzInstalled(std::string_view input);
std::vector<std::string> InstalledSeeds();

}  // namespace upskill
