// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/skills/agent_option.h"
#include "cli/skills/commands.h"
#include "cli/skills/list_tree.h"
#include "cli/skills/skill_history.h"
#include "cli/skills/skill_usage.h"
#include "install/found_skills.h"
#include "install/install_records.h"
#include "report/terminal/table.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/hash.h"
#include "util/json.h"
#include "util/text.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct ListOptions {
  std::string skills_dir;           // empty: from the configuration
  std::string runs_dir;             // empty: from the configuration
  std::vector<std::string> agents;  // not empty: the skills that these find
  bool usage = false;               // of the agent's skills in its sessions
  int days = 30;
  bool verbose = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

struct AgentSkills {
  const Agent* agent;
  std::vector<FoundSkill> skills;
};

Result<std::vector<AgentSkills>> FindAll(const ListOptions& options, const Env& env) {
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

void PrintFound(const std::vector<AgentSkills>& found, const ListOptions& options, const Env& env) {
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  for (const auto& [agent, skills] : found) {
    if (skills.empty() && agent->is_other && MeansAllAgents(options.agents)) continue;
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

// Prints the skills that these agents find from the current folder.
ExitCode ListSkillsOfAgents(const ListOptions& options, Env& env) {
  const Result<std::vector<AgentSkills>> found = FindAll(options, env);
  if (!found) return PrintError(env, found.error());
  if (options.json) {
    PrintFoundAsJson(*found, env);
  } else {
    PrintFound(*found, options, env);
  }
  return ExitCode::kSuccess;
}

ExitCode ShowUsageOfAgent(const ListOptions& options, const std::string& runs_dir, Env& env) {
  const Result<std::vector<AgentSkills>> found = FindAll(options, env);
  if (!found) return PrintError(env, found.error());
  if (found->size() != 1)
    return PrintError(env, InputError("--usage is about the sessions of one agent: give one --agent"));
  const auto& [agent, skills] = found->front();
  const Status shown = ShowUsage({agent, options.days, runs_dir, options.json, options.color}, skills, env);
  return shown ? ExitCode::kSuccess : PrintError(env, shown.error());
}

// With its cases and all but its history.
ListedSkill Listed(const fs::path& folder) {
  ListedSkill listed{folder.string(), LoadSkill(folder), 0, "", {}, {}};
  if (!listed.skill) return listed;
  if (const Result<Suite> suite = LoadSuiteOfSkill(folder)) {
    listed.cases = suite->cases.size();
  } else if (suite.error().kind != ErrorKind::kNotFound) {
    listed.suite_problem = suite.error().message;
  }
  return listed;
}

std::vector<ListedSkill> FindSkills(const fs::path& dir) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator it(dir, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    const bool is_skill = fs::exists(it->path() / "SKILL.md", ignored) || fs::exists(it->path() / "skill.md", ignored);
    if (is_skill) folders.push_back(it->path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<ListedSkill> skills;
  skills.reserve(folders.size());
  for (const fs::path& folder : folders) skills.push_back(Listed(folder));
  return skills;
}

void AddVerdicts(const fs::path& runs_dir, const Env& env, std::vector<ListedSkill>& skills) {
  std::vector<SkillIdentity> identities;
  std::vector<ListedSkill*> identified;
  for (ListedSkill& listed : skills) {
    if (!listed.skill) continue;
    identities.push_back({listed.skill->name, Sha256Hex(listed.skill->body)});
    identified.push_back(&listed);
  }
  SkillHistory history = ReadSkillHistory(runs_dir, identities);
  for (std::size_t i = 0; i < identified.size(); ++i) identified[i]->verdicts = std::move(history.verdicts[i]);
  for (const std::string& problem : history.problems) PrintWarning(env, problem);
}

// The folder itself may be installed, or the source of what is.
void AddInstallationsOf(const std::vector<InstalledSkill>& installed, std::vector<ListedSkill>& skills) {
  std::multimap<fs::path, const InstalledSkill*> known;
  for (const InstalledSkill& skill : installed) {
    known.emplace(skill.folder, &skill);
    if (skill.source != skill.folder) known.emplace(skill.source, &skill);
  }
  if (known.empty()) return;
  for (ListedSkill& listed : skills) {
    std::error_code code;
    const fs::path absolute = fs::absolute(listed.folder, code).lexically_normal();
    const fs::path canonical = fs::weakly_canonical(absolute, code);
    std::set<const InstalledSkill*> found;
    for (const fs::path& path : {absolute, canonical}) {
      const auto [first, last] = known.equal_range(path);
      for (auto it = first; it != last; ++it) {
        if (!found.insert(it->second).second) continue;
        Result<PlaceState> state = StateOf(it->second->folder, it->second);
        listed.installations.push_back(
            {*it->second, state ? *std::move(state) : PlaceState{Presence::kChanged, {state.error().message}}});
      }
    }
  }
}

void AddListCommand(CLI::App& app, ListOptions& options) {
  CLI::App* command = app.add_subcommand("list", "List the skills of a folder or an agent")->group("Skills and traces");
  CLI::Option* const dir =
      command->add_option("-d,--dir", options.skills_dir, "Skills folder [default: the configured one, else ./skills]")
          ->type_name("DIR");
  command
      ->add_option("--runs-dir", options.runs_dir, "Where the runs are [default: the configured folder, else ./runs]")
      ->type_name("DIR");
  CLI::Option* const agent =
      command
          ->add_option("--agent", options.agents,
                       fmt::format("Skills that an agent finds here (repeatable): {}; or all", AgentIds()))
          ->allow_extra_args(false)
          ->type_name("NAME")
          ->excludes(dir);
  CLI::Option* const usage =
      command
          ->add_flag("--usage", options.usage, "Tokens that they cost the agent's sessions, and how often it uses them")
          ->needs(agent);
  command->add_option("--days", options.days, "How far back --usage looks at sessions (days)")
      ->check(WholeNumber(1, 3650))
      ->type_name("DAYS")
      ->capture_default_str()
      ->needs(usage);
  command->add_flag("-v,--verbose", options.verbose,
                    "Show all files, verdicts, places and warnings, with whole descriptions");
  command->add_flag("--json", options.json, "Print a JSON list");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"List the skills in ./skills", "upskill list"},
                         {"Show what each example skill contains", "upskill list -d examples/skills -v"},
                         {"List the skills that Claude Code finds", "upskill list --agent claude-code"},
                         {"See what they cost, and which it uses", "upskill list --agent claude-code --usage"}});
}

ExitCode RunList(const ListOptions& options, Env& env) {
  if (!options.agents.empty() && !options.usage) return ListSkillsOfAgents(options, env);
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  if (options.usage) return ShowUsageOfAgent(options, RunsFolder(options.runs_dir, *config).string(), env);
  const fs::path dir = options.skills_dir.empty() ? config->skills_dir : fs::path(options.skills_dir);
  std::error_code code;
  if (!fs::is_directory(dir, code)) {
    env.error(TerminalText::Format("error: skills folder '{}' not found; name another with -d DIR\n", dir.string()));
    return ExitCode::kFailed;
  }
  std::vector<ListedSkill> skills = FindSkills(dir);
  AddVerdicts(RunsFolder(options.runs_dir, *config), env, skills);
  if (const fs::path records = UserConfigFolder(env.variable); !records.empty()) {
    const Result<std::vector<InstalledSkill>> installed = LoadInstalledSkills(records);
    if (installed) AddInstallationsOf(*installed, skills);
    if (!installed) PrintWarning(env, installed.error().message);
  }
  if (options.json) {
    Json list = Json::array();
    for (const ListedSkill& listed : skills) list.push_back(ListedSkillToJson(listed));
    PrintDocument(env, DumpJsonIndented(list) + "\n");
  } else if (skills.empty()) {
    env.error(TerminalText::Format("no skills in {}\n", dir.string()));
  } else {
    const Style style = StyleFor(env, env.out_is_terminal, options.color);
    env.out(SkillTree(dir.string(), skills, options.verbose, style));
  }
  return ExitCode::kSuccess;
}

}  // namespace

Command ListCommand() { return CommandOf({"list"}, AddListCommand, RunList); }

}  // namespace upskill
