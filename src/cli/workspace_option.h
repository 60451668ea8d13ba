// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/mcp_access.h"
#include "eval/plan.h"
#include "model/model.h"
#include "sandbox/sandbox.h"
#include "util/result.h"

namespace upskill {

inline constexpr int kDefaultTurns = 20;
inline constexpr int kActivationTurns = 6;  // where the choice of a skill matters, and not the work

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

// The folder of a skill of the plan (its skill or previous version) as a student sees it: without what IsEvaluationFile
// names, the plan's suite, and the answers beside it. Error: it is too large or can't be read.
Result<SkillFolder> ReadSkillFolder(const SkillSnapshot& snapshot, const Plan& plan);

// Whether files of the plan's cases and the folders of its skills can be in one workspace. Errors: a name of a skill
// that can't be the name of a folder, a file of a case where a skill's folder is.
Status CheckPlacesOfSkills(const Plan& plan);

// Whether a skill of this name has a folder of that name in a workspace.
bool IsFolderName(const std::string& skill);

// What the system prompt says of skills that are loaded on demand, in the order of their names: XML, with each text on
// one line.
std::string ListingOf(std::vector<SkillFolder> skills);

// The limits, the tools and the prompt of a choice.
Result<WorkspacePlan> WorkspaceFrame(const WorkspaceChoice& choice);

// What the plan needs for the cases that are done in a workspace; nothing if there is none. `plan` has its suite, arms
// and skills. Errors: a folder of a skill that is too large or can't be read.
Result<std::optional<WorkspacePlan>> WorkspacePlanOf(const WorkspaceChoice& choice, const Plan& plan);

// Cases that can't be done in a workspace although the user wants it: a line for each.
std::vector<std::string> CasesThatStayAnswers(const WorkspaceChoice& choice, const Plan& plan);

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
