// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agent/tool_server.h"
#include "eval/plan/plan.h"
#include "measure/spec.h"
#include "model/model.h"
#include "sandbox/sandbox.h"
#include "skill/suite.h"
#include "util/result.h"

namespace upskill {

// Whether a skill of this name has a folder of that name in a workspace.
bool IsFolderName(const std::string& skill);

// Whether students work on a case of the suite in a workspace. `mode`: of all cases; unset: as each case says.
bool AnyActs(const Suite& suite, CaseMode mode);

// What the plan needs for the cases that are done in a workspace; nothing if there is none. `plan` has its suite and
// arms. Errors: files of a case where a skill's folder is, a name of a skill that can't be the name of a folder.
Result<std::optional<WorkspacePlan>> WorkspacePlanOf(const MeasureSpec& spec, const Plan& plan);

// Cases that can't be done in a workspace although all should be: a line for each.
std::vector<std::string> CasesThatStayAnswers(CaseMode mode, const Suite& suite);

// Error: the model can't do cases in a workspace.
Status CheckCanAct(const Model& model);

// Whether the models can do what the plan asks for. Errors: one takes no tools, or can't have a server of the cases;
// there is no sandbox; they are asked in a batch.
Status CheckThatStudentsCanAct(const Plan& plan, const std::vector<std::unique_ptr<Model>>& models,
                               const Sandbox& sandbox, bool batch);

// Gives the models of a plan with workspaces their tools. `run_folder`: where turns are stored; absent: nowhere.
Status LetStudentsAct(const Plan& plan, const Sandbox& sandbox, const std::optional<std::filesystem::path>& run_folder,
                      const McpAccess& access, std::vector<std::unique_ptr<Model>>& models);

}  // namespace upskill
