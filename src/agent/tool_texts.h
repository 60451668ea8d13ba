// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/chat.h"
#include "util/result.h"

namespace upskill {

// The tools that a text describes:
//   # NAME
//
//   What it does, in one or more paragraphs.
//
//   - PARAMETER (string|integer|number|boolean[, optional]): what it means
// Errors (kInput) name `source` and the line.
Result<std::vector<Tool>> ParseTools(std::string_view text, const std::string& source);

// The tools of a workspace, as the prompt `workspace-tools` describes them.
std::vector<Tool> WorkspaceTools();

// What is added to them where skills are loaded on demand, as the prompt `workspace-skill-tools` describes it.
std::vector<Tool> SkillTools();

}  // namespace upskill
