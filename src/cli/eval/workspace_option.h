// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/mcp_access.h"
#include "measure/spec.h"
#include "skill/skill.h"
#include "util/result.h"

namespace upskill {

// How students act: the options of `eval` and `benchmark`.
struct WorkspaceChoice {
  std::string mode;              // of all cases: answer or workspace; empty: as each says
  std::optional<int> max_turns;  // absent: kDefaultTurns
  std::string load = "body";
  double case_seconds = 600.0;
  std::int64_t case_tokens = 0;
  McpChoice mcp;
};

// Unset: as each case says.
CaseMode ModeOf(const WorkspaceChoice& choice);

// The folder of a skill as a student sees it: without what IsEvaluationFile names, and without what is at or below the
// paths in `hidden` (HiddenPaths). Error: it is too large or can't be read.
Result<SkillFolder> ReadSkillFolder(const Skill& skill, const std::vector<std::string>& hidden);

// The choice without what only this machine's user can allow. Error: a load of another name.
Result<WorkspaceSpec> WorkspaceSpecOf(const WorkspaceChoice& choice);

}  // namespace upskill
