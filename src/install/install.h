// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "install/install_records.h"
#include "install/skill_files.h"
#include "install/skills_folder.h"
#include "util/result.h"

namespace upskill {

// What is at the place of a skill.
enum class Presence {
  kAbsent,
  kUnchanged,  // what was installed
  kChanged,    // what was installed, changed since
  kForeign,    // something that wasn't installed
};

struct PlaceState {
  Presence presence = Presence::kAbsent;
  std::vector<std::string> differences;  // kChanged: as of DifferencesFrom
};

// `known`: what is remembered about `folder`; null: nothing. Error: it can't be read.
Result<PlaceState> StateOf(const std::filesystem::path& folder, const InstalledSkill* known);

// "SKILL.md was changed, a.py was added and 3 more".
std::string DifferencesText(const std::vector<std::string>& differences);

// Where a skill comes from, and how it is installed.
struct InstallSource {
  std::filesystem::path path;  // absolute, or a git source (GitSourceText)
  std::string commit;          // that was fetched from a git source; empty: it isn't one
  InstallMode mode = InstallMode::kCopy;
  EvaluationFiles evaluation = EvaluationFiles::kLeftOut;
};

// What installing would do to one folder. Making the plan writes nothing.
struct InstallPlan {
  enum class Step { kNew, kReplace, kNothing };

  Step step = Step::kNew;
  InstalledSkill skill;  // as it will be remembered
};

// Whether an existing folder that isn't what was installed may be lost.
enum class Force { kNo, kYes };

// Errors: the folder has something else, or what was changed since (without kYes); it is the source itself, or one is
// inside the other; a link to an archive.
Result<InstallPlan> PlanInstall(const SkillFiles& skill, const InstallSource& source, const InstallTarget& target,
                                const std::vector<InstalledSkill>& installed, Force force);

// Error: something can't be written; the folder and `records` are then as before.
Status CarryOut(const InstallPlan& plan, const SkillFiles& skill, InstallRecords& records);

// What uninstalling would do to one folder.
struct RemovalPlan {
  enum class Step {
    kRemove,
    kForget,         // the folder is gone already
    kKeepForOthers,  // other agents, `skill.agents`, use it
  };

  Step step = Step::kRemove;
  InstalledSkill skill;  // kKeepForOthers: as it will be remembered
  SkillsFolder place;
};

// Errors: there is no such skill; it was installed for other agents only; without kYes: it wasn't installed, or was
// changed since.
Result<RemovalPlan> PlanRemoval(const std::string& name, const InstallTarget& target,
                                const std::vector<InstalledSkill>& installed, Force force);

// Removes the skill, and the folders that were made for it if they are empty. Error: something can't be removed.
Status CarryOut(const RemovalPlan& plan, InstallRecords& records);

}  // namespace upskill
