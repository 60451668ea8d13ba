// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/list_agents.h"

#include <filesystem>
#include <utility>

#include "cli/skills/agent_option.h"
#include "install/found_skills.h"
#include "report/terminal/table.h"
#include "util/json.h"
#include "util/text.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct AgentSkills {
  const Agent* agent;
  std::vector<FoundSkill> skills;
};

Result<std::vector<AgentSkills>> FindAll(const ListAgentsOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<const Agent*> agents, AgentsNamed(options.agents, true));
  ASSIGN_OR_RETURN(const fs::path current, CurrentFolder());
  ASSIGN_OR_RETURN(const std::vector<InstalledSkill> installed, LoadInstalledSkills(UserConfigFolder(env.variable)));
  std::vector<AgentSkills> found;
  for (const Agent* const agent : agents) {
    ASSIGN_OR_RETURN(std::vector<FoundSkill> skills, FindSkillsOf(*agent, current, env.variable, installed));
    found.push_back({agent, std::move(skills)});
  }
  return found;
}

std::string StateText(const FoundSkill& found) {
  if (!found.installed) return "not installed by upskill";
  if (found.state.presence == Presence::kChanged) return "changed since: " + DifferencesText(found.state.differences);
  return found.installed->mode == InstallMode::kLink ? "linked" : "unchanged";
}

std::string SourceText(const FoundSkill& found) {
  if (!found.installed) return "";
  const std::string source = found.installed->source.string();
  return found.installed->version.empty() ? source : source + ", version " + found.installed->version;
}

Json InstallationJson(const FoundSkill& found) {
  if (!found.installed) return nullptr;
  const InstalledSkill& installed = *found.installed;
  return {{"source", installed.source.string()},
          {"version", installed.version.empty() ? Json(nullptr) : Json(installed.version)},
          {"linked", installed.mode == InstallMode::kLink},
          {"agents", installed.agents},
          {"changed", found.state.presence == Presence::kChanged},
          {"differences", found.state.differences}};
}

void PrintFoundAsJson(const std::vector<AgentSkills>& found, const Env& env) {
  Json list = Json::array();
  for (const auto& [agent, skills] : found) {
    for (const FoundSkill& skill : skills) {
      list.push_back({{"agent", agent->id},
                      {"name", skill.name},
                      {"description", skill.description},
                      {"scope", skill.scope == InstallScope::kUser ? "user" : "project"},
                      {"folder", skill.folder.string()},
                      {"error", skill.problem.empty() ? Json(nullptr) : Json(skill.problem)},
                      {"installed", InstallationJson(skill)}});
    }
  }
  PrintDocument(env, DumpJsonIndented(list) + "\n");
}

void PrintFound(const std::vector<AgentSkills>& found, const ListAgentsOptions& options, const Env& env) {
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  for (const auto& [agent, skills] : found) {
    if (found.size() > 1) env.out(Tinted(style, Tint::kBold, TerminalText::EscapeLine(agent->name)) + "\n");
    Table table({{"skill"}, {"folder"}, {"state"}, {"source", Table::Align::kLeft, true, 1}});
    for (const FoundSkill& skill : skills)
      table.AddRow({skill.name, skill.folder.parent_path().string(), StateText(skill), SourceText(skill)});
    if (!table.empty()) env.out(table.Render(style));
    for (const FoundSkill& skill : skills) {
      if (options.verbose && !skill.description.empty())
        env.out(TerminalText::Format("{}: {}\n", skill.name, skill.description));
      if (!skill.problem.empty()) PrintWarning(env, skill.problem);
    }
    if (skills.empty()) env.out(TerminalText::Format("{} finds no skills here\n", agent->name));
  }
}

}  // namespace

ExitCode ListSkillsOfAgents(const ListAgentsOptions& options, Env& env) {
  const Result<std::vector<AgentSkills>> found = FindAll(options, env);
  if (!found) return PrintError(env, found.error());
  if (options.json) {
    PrintFoundAsJson(*found, env);
  } else {
    PrintFound(*found, options, env);
  }
  return ExitCode::kSuccess;
}

}  // namespace upskill
