// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "eval/plan/plan.h"
#include "model/workspace.h"
#include "skill/suite.h"

namespace upskill {

// The system prompt of an arm for cases that are done in a workspace: the common one, followed in the arms with a skill
// (or placebo) by <skill name="…">body</skill>, or by the skill's name and description where it is loaded on demand.
std::string WorkspaceSystemPrompt(const Plan& plan, Arm arm);

// What a model that acts is given besides the messages. Plan::acts_in(test_case) holds.
std::shared_ptr<const WorkspaceTask> TaskOf(const Plan& plan, Arm arm, const Case& test_case);

// The tools of an arm: those that load skills only where there is one to load.
std::vector<Tool> ToolsOfArm(const Plan& plan, Arm arm);

// The hash of what the tasks of an arm have in common: skills, tools and limits. It takes time for the size of the
// skills, so it is made once for all cases.
std::string ArmKey(const Plan& plan, Arm arm);
// The hash of a case's task in that arm, which enters the cell's key.
std::string TaskKey(const Plan& plan, const std::string& arm_key, const Case& test_case);

// The files of the workspace at the end, for the case's checks; nothing for an answer in words.
std::optional<WorkspaceFiles> FinalFiles(const Case& test_case, const ChatResponse& response);

}  // namespace upskill
