// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/workspace_option.h"

#include <cstddef>
#include <utility>

#include "skill/skill_tree.h"
#include "skill/suite.h"
#include "util/files.h"

namespace upskill {
namespace {

constexpr std::size_t kMostSkillBytes = std::size_t{4} << 20U;
constexpr SkillLimits kLimitsOfWorkspace = {kMaxWorkspaceFiles / 2, kMostSkillBytes, kMostSkillBytes};

}  // namespace

Result<SkillFolder> ReadSkillFolder(const Skill& skill, const std::vector<std::string>& hidden) {
  SkillFolder folder{skill.name, skill.description, {}};
  const auto left_out = [&](const std::string& name) {
    return IsPassedOver(name) || IsEvaluationFile(name) || IsAtOrBelow(name, hidden) || !ContainedPath("", name);
  };
  ASSIGN_OR_RETURN(
      FileMap files,
      ReadSkillFiles(skill.folder, left_out, OddEntries::kLeftOut, kLimitsOfWorkspace).With("a skill in a workspace"));
  for (auto& [name, file] : files) folder.files[name] = std::move(file.content);
  // It may be called skill.md, or be a link, which is left out.
  folder.files.erase(skill.file.filename().string());
  folder.files["SKILL.md"] = skill.text;
  return folder;
}

CaseMode ModeOf(const WorkspaceChoice& choice) { return CaseModeFromName(choice.mode).value_or(CaseMode::kUnset); }

Result<WorkspaceSpec> WorkspaceSpecOf(const WorkspaceChoice& choice) {
  ASSIGN_OR_RETURN(const SkillLoad load, SkillLoadFromName(choice.load));
  return WorkspaceSpec{ModeOf(choice), choice.max_turns, load, choice.case_seconds, choice.case_tokens};
}

}  // namespace upskill
