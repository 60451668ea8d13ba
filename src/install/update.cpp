// SPDX-License-Identifier: Apache-2.0
#include "install/update.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "install/skill_archive.h"
#include "util/result.h"

namespace upskill {
namespace {

UpdatePlan Ended(UpdatePlan::Step step, std::string detail = "") {
  UpdatePlan plan;
  plan.step = step;
  plan.detail = std::move(detail);
  return plan;
}

struct NewestSource {
  SkillFiles files;
  std::string commit;
};

Result<NewestSource> NewestOf(const InstalledSkill& skill, GitRepositories& repositories) {
  NewestSource newest;
  if (skill.commit.empty()) {
    ASSIGN_OR_RETURN(newest.files, ReadSkillSource(skill.source, skill.evaluation));
    return newest;
  }
  ASSIGN_OR_RETURN(const GitSource source, ParseGitSource(skill.source.string()));
  ASSIGN_OR_RETURN(FetchedSkill fetched, repositories.Skill(source, skill.evaluation));
  newest.files = std::move(fetched.files);
  newest.commit = std::move(fetched.commit);
  return newest;
}

}  // namespace

Result<UpdatePlan> PlanUpdate(const InstalledSkill& skill, const std::vector<InstalledSkill>& installed, Force force,
                              GitRepositories& repositories) {
  using Step = UpdatePlan::Step;
  std::error_code code;
  if (skill.commit.empty() && !std::filesystem::exists(skill.source, code))
    return Ended(Step::kSourceGone, skill.source.string());
  const Result<PlaceState> state = StateOf(skill.folder, &skill);
  if (!state) return Ended(Step::kUnusable, state.error().message);
  if (force == Force::kNo) {
    if (state->presence == Presence::kAbsent) return Ended(Step::kRemovedByUser);
    if (state->presence == Presence::kChanged) return Ended(Step::kChangedByUser, DifferencesText(state->differences));
  }
  Result<NewestSource> newest = NewestOf(skill, repositories);
  if (!newest && newest.error().kind == ErrorKind::kCancelled) return newest.error();
  if (!newest) return Ended(Step::kUnusable, newest.error().message);
  if (newest->files.name != skill.name) {
    return Ended(Step::kUnusable, fmt::format("{} is the skill '{}' now; install that, and uninstall this one",
                                              skill.source.string(), newest->files.name));
  }
  const InstallTarget target{{skill.project, skill.folder.parent_path()}, skill.agents};
  Result<InstallPlan> install = PlanInstall(newest->files, {skill.source, newest->commit, skill.mode, skill.evaluation},
                                            target, installed, force);
  if (!install) return Ended(Step::kUnusable, install.error().message);
  UpdatePlan plan = Ended(install->step == InstallPlan::Step::kNothing ? Step::kUnchanged : Step::kUpdate);
  plan.source = std::move(newest->files);
  plan.install = *std::move(install);
  return plan;
}

}  // namespace upskill
