// SPDX-License-Identifier: Apache-2.0
#include "cli/eval/workspace_option.h"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "skill/skill.h"
#include "skill/skill_tree.h"
#include "skill/suite.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostSkillBytes = std::size_t{4} << 20U;

}  // namespace

Result<SkillFolder> ReadSkillFolder(const fs::path& skill_folder, const std::vector<std::string>& hidden) {
  ASSIGN_OR_RETURN(const Skill skill, LoadSkill(skill_folder));
  SkillFolder folder{skill.name, skill.description, {}};
  std::size_t bytes = 0;
  for (const std::string& name : ListSkillFiles(skill.folder)) {
    const fs::path file = skill.folder / name;
    const bool is_text_of_skill = file == skill.file;
    if (IsEvaluationFile(name) || IsAtOrBelow(name, hidden) || !ContainedPath("", name)) continue;
    ASSIGN_OR_RETURN(std::string content, ReadFile(file));
    bytes += content.size();
    if (bytes > kMostSkillBytes || folder.files.size() >= kMaxWorkspaceFiles / 2) {
      return InputError(fmt::format("the skill {} has more than {} or {} files, too much for a workspace",
                                    skill.folder.string(), BytesText(kMostSkillBytes), kMaxWorkspaceFiles / 2));
    }
    folder.files[is_text_of_skill ? "SKILL.md" : PlainFileName(name)] = std::move(content);
  }
  // ListSkillFiles leaves links out, but SKILL.md may be one.
  if (!folder.files.contains("SKILL.md")) {
    ASSIGN_OR_RETURN(folder.files["SKILL.md"], ReadFile(skill.file));
  }
  return folder;
}

CaseMode ModeOf(const WorkspaceChoice& choice) { return CaseModeFromName(choice.mode).value_or(CaseMode::kUnset); }

Result<WorkspaceSpec> WorkspaceSpecOf(const WorkspaceChoice& choice) {
  ASSIGN_OR_RETURN(const SkillLoad load, SkillLoadFromName(choice.load));
  return WorkspaceSpec{ModeOf(choice), choice.max_turns, load, choice.case_seconds, choice.case_tokens};
}

}  // namespace upskill
