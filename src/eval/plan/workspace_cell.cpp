// SPDX-License-Identifier: Apache-2.0
#include "eval/plan/workspace_cell.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <utility>

#include "eval/plan/tool_servers.h"
#include "util/files.h"
#include "util/hash.h"

namespace upskill {
namespace {

// Of the arms with a skill. The placebo is a skill of the same name and description with another body.
std::optional<SkillFolder> FolderOfArm(const Plan& plan, Arm arm) {
  switch (arm) {
    case Arm::kBaseline:
      return std::nullopt;
    case Arm::kSkill:
      return plan.workspace->skill;
    case Arm::kPlacebo: {
      SkillFolder placebo{plan.workspace->skill.name, plan.workspace->skill.description, {}};
      placebo.files["SKILL.md"] = fmt::format("---\nname: {}\ndescription: {}\n---\n\n{}\n", DumpJson(placebo.name),
                                              DumpJson(placebo.description), plan.placebo);
      return placebo;
    }
    case Arm::kPrevious:
      return plan.workspace->previous;
  }
  return std::nullopt;
}

std::string BodyOfArm(const Plan& plan, Arm arm) {
  if (arm == Arm::kPlacebo) return plan.placebo;
  return arm == Arm::kPrevious ? plan.previous.body : plan.skill.body;
}

std::chrono::milliseconds TimeLimitOf(const WorkspacePlan& workspace) {
  return std::chrono::milliseconds(std::llround(workspace.case_seconds * 1000.0));
}

WorkspaceFiles FilesOfCase(const Case& test_case) {
  WorkspaceFiles files;
  for (const auto& [name, content] : test_case.files) files[PlainFileName(name)] = content;
  return files;
}

Json KeyOf(const ToolServer& server) {
  if (!server.url.empty())
    return {{"name", server.name}, {"url", server.url}, {"headers", server.headers}, {"shared", server.shared}};
  return {{"name", server.name},
          {"command", server.command},
          {"files", FileChangesToJson({server.files, {}})},
          {"shared", server.shared}};
}

}  // namespace

std::string WorkspaceSystemPrompt(const Plan& plan, Arm arm) {
  const WorkspacePlan& workspace = *plan.workspace;
  if (arm == Arm::kBaseline) return workspace.system_prompt;
  const bool previous = arm == Arm::kPrevious;
  if (workspace.load == SkillLoad::kOnDemand)
    return workspace.system_prompt + "\n\n" + (previous ? workspace.previous_prompt : workspace.skill_prompt);
  return fmt::format("{}\n\n<skill name=\"{}\">\n{}\n</skill>", workspace.system_prompt,
                     previous ? plan.previous.name : plan.skill.name, BodyOfArm(plan, arm));
}

std::shared_ptr<const WorkspaceTask> TaskOf(const Plan& plan, Arm arm, const Case& test_case) {
  const WorkspacePlan& workspace = *plan.workspace;
  auto task = std::make_shared<WorkspaceTask>();
  task->files = FilesOfCase(test_case);
  task->skill = FolderOfArm(plan, arm);
  if (task->skill) task->others = workspace.others;
  if (Result<std::vector<ToolServer>> servers = ServersOf(plan.suite, test_case)) task->servers = *std::move(servers);
  task->load = workspace.load;
  task->max_turns = workspace.max_turns;
  task->time_limit = TimeLimitOf(workspace);
  task->max_tokens = workspace.case_tokens;
  return task;
}

std::vector<Tool> ToolsOfArm(const Plan& plan, Arm arm) {
  std::vector<Tool> tools = plan.workspace->tools;
  if (arm == Arm::kBaseline) std::erase_if(tools, [](const Tool& tool) { return tool.name == kActivateSkillTool; });
  return tools;
}

std::string ArmKey(const Plan& plan, Arm arm) {
  const WorkspacePlan& workspace = *plan.workspace;
  Json tools = Json::array();
  for (const Tool& tool : ToolsOfArm(plan, arm))
    tools.push_back({{"name", tool.name}, {"description", tool.description}, {"schema", tool.schema}});
  Json key = {{"arm", 1},
              {"load", SkillLoadName(workspace.load)},
              {"max_turns", workspace.max_turns},
              {"time_ms", TimeLimitOf(workspace).count()},
              {"max_tokens", workspace.case_tokens},
              {"tools", std::move(tools)}};
  const auto folder = [](const SkillFolder& skill) {
    return Json{
        {"name", skill.name}, {"description", skill.description}, {"files", FileChangesToJson({skill.files, {}})}};
  };
  if (const std::optional<SkillFolder> skill = FolderOfArm(plan, arm)) {
    key["skill"] = folder(*skill);
    for (const SkillFolder& other : workspace.others) key["others"].push_back(folder(other));
  }
  return Sha256Hex(CanonicalJson(key));
}

std::string TaskKey(const Plan& plan, const std::string& arm_key, const Case& test_case) {
  Json key = {{"task", 2}, {"arm", arm_key}, {"files", FileChangesToJson({FilesOfCase(test_case), {}})}};
  if (Result<std::vector<ToolServer>> servers = ServersOf(plan.suite, test_case)) {
    for (const ToolServer& server : *servers) key["servers"].push_back(KeyOf(server));
  }
  return Sha256Hex(CanonicalJson(key));
}

std::optional<WorkspaceFiles> FinalFiles(const Case& test_case, const ChatResponse& response) {
  if (!response.work) return std::nullopt;
  return WithChanges(FilesOfCase(test_case), response.work->changes);
}

}  // namespace upskill
