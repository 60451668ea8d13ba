// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "eval/verdict/summary.h"
#include "util/json.h"

namespace upskill {

// What students have done in workspaces, with labels, arm by arm: turns, errors of tools, tools, and what was read of
// the skill. Empty if no answer is one from a workspace.
std::vector<std::pair<std::string, std::string>> WorkLines(const StudentSummary& student);

// The same of one arm, for `--json`; null without any.
Json WorkToJson(const ArmSummary& arm);

}  // namespace upskill
