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

}  // namespace

UpdatePlan PlanUpdate(const InstalledSkill& skill, const std::vector<InstalledSkill>& installed, Force force) {
  using Step = UpdatePlan::Step;
  std::error_code code;
  if (!std::filesystem::exists(skill.source, code)) return Ended(Step::kSourceGone, skill.source.string());
  const Result<PlaceState> state = StateOf(skill.folder, &skill);
  if (!state) return Ended(Step::kUnusable, state.error().message);
  if (force == Force::kNo) {
    if (state->presence == Presence::kAbsent) return Ended(Step::kRemovedByUser);
    if (state->presence == Presence::kChanged) return Ended(Step::kChangedByUser, DifferencesText(state->differences));
  }
  Result<SkillFiles> source = ReadSkillSource(skill.source, skill.evaluation);
  if (!source) return Ended(Step::kUnusable, source.error().message);
  if (source->name != skill.name) {
    return Ended(Step::kUnusable, fmt::format("{} is the skill '{}' now; install that, and uninstall this one",
                                              skill.source.string(), source->name));
  }
  const InstallTarget target{{skill.project, skill.folder.parent_path()}, skill.agents};
  Result<InstallPlan> install =
      PlanInstall(*source, {skill.source, skill.mode, skill.evaluation}, target, installed, force);
  if (!install) return Ended(Step::kUnusable, install.error().message);
  if (install->step == InstallPlan::Step::kNothing) return Ended(Step::kUnchanged);
  UpdatePlan plan = Ended(Step::kUpdate);
  plan.source = *std::move(source);
  plan.install = *std::move(install);
  return plan;
}

}  // namespace upskill
