// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "install/git_fetch.h"
#include "install/install.h"
#include "install/install_records.h"
#include "install/skill_files.h"

namespace upskill {

// What updating would do to one installed skill.
struct UpdatePlan {
  enum class Step {
    kUpdate,
    kUnchanged,
    kChangedByUser,  // the installed copy; kYes replaces it
    kRemovedByUser,  // the same for a copy that is gone
    kSourceGone,
    kUnusable,  // the source has a fault, or is another skill now
  };

  Step step = Step::kUnchanged;
  std::string detail;   // what the user changed, or what is wrong; may be empty
  SkillFiles source;    // kUpdate, kUnchanged
  InstallPlan install;  // kUpdate, kUnchanged: for CarryOut, which remembers the new commit of an unchanged skill
};

// Compares an installed skill with its source, which is in `repositories` if it is in one. Writes nothing. Error: git
// was stopped.
Result<UpdatePlan> PlanUpdate(const InstalledSkill& skill, const std::vector<InstalledSkill>& installed, Force force,
                              GitRepositories& repositories);

}  // namespace upskill
