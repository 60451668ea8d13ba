// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "skill/skill.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// The look at a skill's tests that the next run of a model would be (docs/verdicts.md, "What has been looked at
// before").
struct NextLook {
  int number = 1;
  int planned_rounds = 0;  // of the run that it would continue; 0: none
  double alpha = 0.0;      // its share of alpha
};

// By model: by the ledger of the runs folder, with the settings that the model's newest run in it had; a first look if
// it has none. Errors: the ledger can't be read.
Result<std::vector<NextLook>> FindNextLooks(const std::filesystem::path& runs_dir, const Skill& skill,
                                            const Suite& suite, const std::vector<std::string>& models, double alpha);

// For people: what makes it need more rounds than a first run. Empty: nothing.
std::string LookText(const NextLook& look);

}  // namespace upskill
