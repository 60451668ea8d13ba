// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "install/git_fetch.h"
#include "install/install.h"
#include "install/skills_folder.h"
#include "util/result.h"

namespace upskill {

struct SkillToInstall {
  InstallSource source;
  SkillFiles files;
  std::vector<InstallTarget> targets;
};

// The skill that the argument of `install` names, without targets: what PathOfSkill finds, or a git source
// (ParseGitSource), which is fetched. Errors: those of these, of ReadSkillSource and of FetchGitSkill; a link to a git
// source.
Result<SkillToInstall> ReadInstallSource(const std::string& skill, InstallMode mode, EvaluationFiles evaluation,
                                         const Env& env);

// Limits under which git works for a command: it stops on Ctrl-C, and says on standard error what is asked for and,
// every ten seconds, how much has arrived.
GitLimits GitLimitsOf(const Env& env);

}  // namespace upskill
