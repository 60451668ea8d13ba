// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/terminal/runs_text.h"

namespace upskill {

// What the newest run with a verdict says of a skill for one model: of those with the skill's present text, if any.
struct LastVerdict {
  RunRow row;
  bool skill_changed = false;  // the skill's text isn't the one that was measured
};

// A skill whose runs are wanted.
struct SkillIdentity {
  std::string name;
  std::string sha256;  // of the body, as SkillSnapshot::sha256
};

struct SkillHistory {
  std::vector<std::vector<LastVerdict>> verdicts;  // for each skill asked for: one for each model
  std::vector<std::string> problems;               // a sentence for each run that couldn't be read
};

// The last verdicts on these skills below `runs_dir`, by the skill's name or text. Trials of generations are left out.
// Reads the answers of a run only if it is the newest of one of the skills and a model. A missing folder has no runs.
SkillHistory ReadSkillHistory(const std::filesystem::path& runs_dir, const std::vector<SkillIdentity>& skills);

}  // namespace upskill
