// SPDX-License-Identifier: Apache-2.0
#include "measure/workspace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "agent/loop_model.h"
#include "agent/tool_texts.h"
#include "agent/turn_journal.h"
#include "eval/plan/tool_servers.h"
#include "prompts/prompts.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {

namespace fs = std::filesystem;

bool IsFolderName(const std::string& skill) {
  return ContainedPath("", skill) && skill.find('/') == std::string::npos && ConflictOfFiles({{skill, ""}}).empty();
}

namespace {

// Whether files of the plan's cases and the folders of its skills can be in one workspace.
Status CheckPlacesOfSkills(const Plan& plan) {
  const WorkspacePlan& workspace = *plan.workspace;
  if (workspace.load != SkillLoad::kOnDemand) return {};
  std::vector<const SkillFolder*> skills = {&workspace.skill};
  if (plan.has_arm(Arm::kPrevious)) skills.push_back(&workspace.previous);
  for (const SkillFolder& other : workspace.others) skills.push_back(&other);
  WorkspaceFiles placed;
  for (const SkillFolder* skill : skills) {
    if (!IsFolderName(skill->name))
      return InputError(fmt::format("the name of the skill \"{}\" can't be the name of a folder in a workspace",
                                    ExcerptLine(skill->name, 80)));
    for (const auto& [name, content] : skill->files)
      placed[fmt::format("{}/{}/{}", kWorkspaceSkills, skill->name, name)];
  }
  for (const Case& test_case : plan.suite.cases) {
    if (test_case.files.empty() || !plan.acts_in(test_case)) continue;
    WorkspaceFiles all = placed;
    for (const auto& [name, content] : test_case.files) all[PlainFileName(name)];
    if (const std::string conflict = ConflictOfFiles(all); !conflict.empty()) {
      return InputError(fmt::format("{}: \"context.files\": {}; the folders of skills are in {}",
                                    test_case.place.empty() ? test_case.id : test_case.place, conflict,
                                    kWorkspaceSkills));
    }
  }
  return {};
}

// As text in XML, on one line.
std::string ListedText(std::string_view text) {
  std::string listed;
  for (const char c : text) {
    const bool is_space = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (is_space && listed.ends_with(' ')) continue;
    if (c == '&') {
      listed += "&amp;";
    } else if (c == '<') {
      listed += "&lt;";
    } else if (c == '>') {
      listed += "&gt;";
    } else {
      listed += is_space ? ' ' : c;
    }
  }
  return std::string(Trim(listed));
}

// What the system prompt says of skills that are loaded on demand, in the order of their names: XML, with each text on
// one line.
std::string ListingOf(std::vector<SkillFolder> skills) {
  std::sort(skills.begin(), skills.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string listed;
  for (const SkillFolder& skill : skills) {
    listed += (listed.empty() ? "" : "\n") +
              BuiltInPrompts().Render(
                  "workspace-listed-skill",
                  {{"name", ListedText(skill.name)},
                   {"description", ListedText(skill.description)},
                   {"location", ListedText(fmt::format("{}/{}/SKILL.md", kWorkspaceSkills, skill.name))}});
  }
  return BuiltInPrompts().Render("workspace-skill", {{"skills", listed}});
}

bool AnyActs(const Plan& plan) {
  return std::any_of(plan.suite.cases.begin(), plan.suite.cases.end(),
                     [&](const Case& test_case) { return plan.acts_in(test_case); });
}

// Whether an agent program can have the servers of the cases.
Status CheckServersOf(const Plan& plan, const ModelInfo& program) {
  for (const Case& test_case : plan.suite.cases) {
    if (!plan.acts_in(test_case)) continue;
    ASSIGN_OR_RETURN(const std::vector<ToolServer> servers, ServersOf(plan.suite, test_case));
    for (const ToolServer& server : servers) {
      if (!server.url.empty()) {
        return InputError(
            fmt::format("model '{}' is an agent program, which reaches its model and nothing else, so it can't use the "
                        "MCP server {} "
                        "at {}; name another model, or cases without it",
                        program.name, server.name, server.url));
      }
      if (!program.starts_servers) {
        return InputError(
            fmt::format("model '{}' is an agent program that can't be given MCP servers, such as {} of the "
                        "cases; name another model, or cases without \"mcp\"",
                        program.name, server.name));
      }
    }
  }
  return {};
}

// The limits, the tools and the prompt.
WorkspacePlan WorkspaceFrame(const MeasureSpec& spec) {
  const WorkspaceSpec& how = *spec.workspace;
  WorkspacePlan workspace;
  workspace.mode = spec.others ? CaseMode::kWorkspace : how.mode;
  workspace.max_turns = how.max_turns.value_or(spec.others ? kActivationTurns : kDefaultTurns);
  workspace.load = spec.others ? SkillLoad::kOnDemand : how.load;
  workspace.case_seconds = how.case_seconds;
  workspace.case_tokens = how.case_tokens;
  workspace.system_prompt = BuiltInPrompts().Render("workspace");
  workspace.tools = WorkspaceTools();
  if (workspace.load == SkillLoad::kOnDemand) {
    for (Tool& tool : SkillTools()) workspace.tools.push_back(std::move(tool));
  }
  return workspace;
}

}  // namespace

bool AnyActs(const Suite& suite, CaseMode mode) {
  Plan plan;
  plan.suite = suite;
  plan.workspace.emplace().mode = mode;
  return AnyActs(plan);
}

Result<std::optional<WorkspacePlan>> WorkspacePlanOf(const MeasureSpec& spec, const Plan& plan) {
  if (!spec.workspace) return std::optional<WorkspacePlan>();
  Plan tried;
  tried.suite = plan.suite;
  tried.arms = plan.arms;
  tried.workspace = WorkspaceFrame(spec);
  if (!AnyActs(tried)) return std::optional<WorkspacePlan>();
  for (const Case& test_case : plan.suite.cases) RETURN_IF_ERROR(ServersOf(plan.suite, test_case));
  WorkspacePlan& workspace = *tried.workspace;
  if (spec.others) {
    workspace.activation = true;
    workspace.others = *spec.others;
  }
  if (spec.skill) {
    workspace.skill = spec.skill->folder.value();
    std::vector<SkillFolder> listed = workspace.others;
    listed.push_back(workspace.skill);
    workspace.skill_prompt = ListingOf(std::move(listed));
  }
  if (plan.has_arm(Arm::kPrevious)) {
    workspace.previous = spec.previous->folder.value();
    workspace.previous_prompt = ListingOf({workspace.previous});
  }
  if (spec.skill) RETURN_IF_ERROR(CheckPlacesOfSkills(tried));
  return std::move(tried.workspace);
}

std::vector<std::string> CasesThatStayAnswers(CaseMode mode, const Suite& suite) {
  constexpr std::size_t kMostToName = 5;
  std::vector<std::string> names;
  if (mode != CaseMode::kWorkspace) return names;
  for (const Case& test_case : suite.cases) {
    if (test_case.fill) names.push_back(fmt::format("\"{}\"", ExcerptLine(test_case.id, 60)));
  }
  if (names.empty()) return names;
  if (names.size() == 1)
    return {fmt::format("case {} has a gap to fill, so it stays an answer in words", names.front())};
  const std::size_t named = std::min(names.size(), kMostToName);
  const std::string more = names.size() > named ? fmt::format(" and {} more", names.size() - named) : "";
  return {fmt::format("{} have a gap to fill, so they stay answers in words: {}{}", Counted(names.size(), "case"),
                      fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(named), ", "), more)};
}

Status CheckCanAct(const Model& model) {
  if (model.info().acts || model.info().takes_tools || model.info().in_process) return {};
  return InputError(fmt::format(
      "model '{}' takes no tools, so it can't do cases in a workspace; name another model, or cases that are answered "
      "in words",
      model.info().name));
}

Status CheckThatStudentsCanAct(const Plan& plan, const std::vector<std::unique_ptr<Model>>& models,
                               const Sandbox& sandbox, bool batch) {
  if (!AnyActs(plan)) return {};
  if (batch) {
    return InputError(
        "--batch can't do cases in a workspace, where each turn would wait for a batch of its own: leave it out, or "
        "name cases that are answered in words");
  }
  for (const std::unique_ptr<Model>& model : models) {
    if (model->info().acts) RETURN_IF_ERROR(CheckServersOf(plan, model->info()));
    RETURN_IF_ERROR(CheckCanAct(*model));
  }
  return sandbox.Available().With("students work in a sandbox");
}

Status LetStudentsAct(const Plan& plan, const Sandbox& sandbox, const std::optional<fs::path>& run_folder,
                      const McpAccess& access, std::vector<std::unique_ptr<Model>>& models) {
  if (!AnyActs(plan)) return {};
  LoopOptions options;
  options.access = access;
  options.sandbox = &sandbox;
  if (run_folder) {
    ASSIGN_OR_RETURN(options.journal, TurnJournal::Open(*run_folder / kTurnsFile));
  }
  for (std::unique_ptr<Model>& model : models) {
    if (model->info().acts) continue;
    ASSIGN_OR_RETURN(model, MakeLoopModel(std::move(model), options));
  }
  return {};
}

}  // namespace upskill
