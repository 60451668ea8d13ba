// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/skills/skill_history.h"
#include "install/install.h"
#include "install/install_records.h"
#include "report/terminal/style.h"
#include "skill/skill.h"
#include "util/json.h"

namespace upskill {

// Where a skill was installed, and whether that was changed since.
struct SkillInstallation {
  InstalledSkill installed;
  PlaceState state;
};

// All that `list` knows of a skill.
struct ListedSkill {
  std::string folder;
  Result<Skill> skill;
  std::size_t cases = 0;
  std::string suite_problem;  // why its cases can't be read; empty: they can, or there are none
  std::vector<LastVerdict> verdicts;
  std::vector<SkillInstallation> installations;
};

// The skills below a line that names the folder, each with what is known of it as branches. `verbose`: everything, on
// as many lines as it takes; else a few short lines for each skill.
TerminalText SkillTree(const std::string& folder, const std::vector<ListedSkill>& skills, bool verbose,
                       const Style& style);

// An element of `list --json`.
Json ListedSkillToJson(const ListedSkill& listed);

}  // namespace upskill
