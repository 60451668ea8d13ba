// SPDX-License-Identifier: Apache-2.0
#include "cli/list_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/agent_option.h"
#include "cli/color_option.h"
#include "cli/config.h"
#include "cli/help_formatter.h"
#include "cli/list_agents.h"
#include "report/table.h"
#include "skill/skill.h"
#include "skill/suite.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string folder;
  Result<Skill> skill;
  std::size_t cases = 0;
};

std::vector<Entry> FindSkills(const fs::path& dir) {
  std::vector<fs::path> folders;
  std::error_code code;
  for (fs::directory_iterator it(dir, code), end; !code && it != end; it.increment(code)) {
    std::error_code ignored;
    const bool is_skill = fs::exists(it->path() / "SKILL.md", ignored) || fs::exists(it->path() / "skill.md", ignored);
    if (is_skill) folders.push_back(it->path());
  }
  std::sort(folders.begin(), folders.end());
  std::vector<Entry> entries;
  for (const fs::path& folder : folders) {
    Entry entry{folder.string(), LoadSkill(folder), 0};
    if (const Result<Suite> suite = LoadSuiteOfSkill(folder)) entry.cases = suite->cases.size();
    entries.push_back(std::move(entry));
  }
  return entries;
}

void PrintVerbose(const std::vector<Entry>& entries, const Style& style, Env& env) {
  for (const Entry& entry : entries) {
    if (!entry.skill) continue;
    const Skill& skill = *entry.skill;
    env.out(Tinted(style, Tint::kBold, TerminalText::EscapeLine(skill.name)) + "\n");
    env.out(TerminalText::Format("  {}\n  {} · {} · {} · {}\n", Wrapped(skill.description, style.columns, 2),
                                 entry.folder, Counted(entry.cases, "case"),
                                 Counted(skill.references.size(), "reference"),
                                 Counted(skill.scripts.size(), "script")));
    for (const std::string& warning : skill.warnings)
      env.out(TerminalText::Format("  {}\n", Wrapped("warning: " + warning, style.columns, 4)));
  }
}

void PrintJson(const std::vector<Entry>& entries, Env& env) {
  Json list = Json::array();
  for (const Entry& entry : entries) {
    if (!entry.skill) {
      list.push_back({{"folder", entry.folder}, {"error", entry.skill.error().message}});
      continue;
    }
    list.push_back({{"folder", entry.folder},
                    {"name", entry.skill->name},
                    {"description", entry.skill->description},
                    {"cases", entry.cases},
                    {"references", entry.skill->references},
                    {"scripts", entry.skill->scripts}});
  }
  PrintDocument(env, DumpJsonIndented(list) + "\n");
}

}  // namespace

void AddListCommand(CLI::App& app, ListOptions& options) {
  CLI::App* command = app.add_subcommand("list", "List the skills of a folder or an agent")->group("Skills and traces");
  CLI::Option* const dir =
      command->add_option("-d,--dir", options.skills_dir, "Skills folder [default: the configured one, else ./skills]")
          ->type_name("DIR");
  command
      ->add_option("--agent", options.agents,
                   fmt::format("Skills that an agent finds here, repeatable: {}, or all", AgentIds()))
      ->allow_extra_args(false)
      ->type_name("NAME")
      ->excludes(dir);
  command->add_flag("-v,--verbose", options.verbose, "Show description, files and warnings of each skill");
  command->add_flag("--json", options.json, "Print a JSON list");
  AddColorOption(*command, options.color);
  AddExamples(*command, {{"List the skills in ./skills", "upskill list"},
                         {"Show what each example skill contains", "upskill list -d examples/skills -v"},
                         {"List the skills that Claude Code finds", "upskill list --agent claude-code"}});
}

ExitCode RunList(const ListOptions& options, Env& env) {
  if (!options.agents.empty())
    return ListSkillsOfAgents({options.agents, options.verbose, options.json, options.color}, env);
  const Result<Config> config = LoadConfig(env);
  if (!config) return PrintError(env, config.error());
  const fs::path dir = options.skills_dir.empty() ? config->skills_dir : fs::path(options.skills_dir);
  std::error_code code;
  if (!fs::is_directory(dir, code)) {
    env.error(TerminalText::Format("error: skills folder '{}' not found; name another with -d DIR\n", dir.string()));
    return ExitCode::kFailed;
  }
  const std::vector<Entry> entries = FindSkills(dir);
  if (options.json) {
    PrintJson(entries, env);
    return ExitCode::kSuccess;
  }
  const Style style = StyleFor(env, env.out_is_terminal, options.color);
  if (options.verbose) {
    PrintVerbose(entries, style, env);
  } else {
    Table table(
        {{"skill", Table::Align::kLeft}, {"cases", Table::Align::kRight}, {"description", Table::Align::kLeft, true}});
    for (const Entry& entry : entries) {
      if (!entry.skill) continue;
      table.AddRow({entry.skill->name, std::to_string(entry.cases), entry.skill->description});
    }
    if (!table.empty()) env.out(table.Render(style));
  }
  for (const Entry& entry : entries) {
    if (!entry.skill) PrintWarning(env, entry.skill.error().message);
  }
  if (entries.empty()) env.error(TerminalText::Format("no skills in {}\n", dir.string()));
  return ExitCode::kSuccess;
}

}  // namespace upskill
