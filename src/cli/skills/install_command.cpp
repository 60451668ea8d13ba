// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/skills/agent_option.h"
#include "cli/skills/commands.h"
#include "cli/skills/install_source.h"
#include "install/install.h"
#include "install/install_records.h"
#include "util/text.h"

namespace upskill {
namespace {

struct InstallOptions {
  std::string skill;
  AgentChoice where;
  bool link = false;
  bool copy = false;
  bool with_tests = false;
  bool force = false;
  bool dry_run = false;
};

struct UninstallOptions {
  std::string name;
  AgentChoice where;
  bool force = false;
  bool dry_run = false;
};

namespace fs = std::filesystem;

const char* WhatIsDone(InstallPlan::Step step, bool dry_run) {
  switch (step) {
    case InstallPlan::Step::kNew:
      return dry_run ? "would be installed" : "installed";
    case InstallPlan::Step::kReplace:
      return dry_run ? "would be replaced" : "replaced";
    case InstallPlan::Step::kNothing:
      break;
  }
  return "is there already, unchanged,";
}

TerminalText OutcomeOf(const InstallPlan& plan, const SkillFiles& skill, bool dry_run) {
  constexpr std::size_t kShownOfCommit = 12;
  std::string what = plan.skill.mode == InstallMode::kLink ? fmt::format("link to {}", plan.skill.source.string())
                                                           : Counted(skill.files.size(), "file");
  if (!plan.skill.commit.empty()) what += fmt::format(" of commit {}", plan.skill.commit.substr(0, kShownOfCommit));
  return TerminalText::Format("{}: {} in {} for {} · {}\n", skill.name, WhatIsDone(plan.step, dry_run),
                              plan.skill.folder, NamesOfAgents(plan.skill.agents), what);
}

Result<std::vector<InstallPlan>> PlansFor(const InstallOptions& options, const SkillFiles& skill,
                                          const InstallSource& source, const std::vector<InstallTarget>& targets,
                                          const std::vector<InstalledSkill>& installed) {
  std::vector<InstallPlan> plans;
  for (const InstallTarget& target : targets) {
    ASSIGN_OR_RETURN(InstallPlan plan,
                     PlanInstall(skill, source, target, installed, options.force ? Force::kYes : Force::kNo));
    plans.push_back(std::move(plan));
  }
  return plans;
}

// Shows what would be done, with the files that would be copied.
Status ShowInstall(const InstallOptions& options, const SkillFiles& skill, const InstallSource& source,
                   const std::vector<InstallTarget>& targets, const fs::path& records_folder, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<InstalledSkill> installed, LoadInstalledSkills(records_folder));
  ASSIGN_OR_RETURN(const std::vector<InstallPlan> plans, PlansFor(options, skill, source, targets, installed));
  for (const InstallPlan& plan : plans) env.out(OutcomeOf(plan, skill, true));
  if (source.mode == InstallMode::kLink) return {};
  for (const auto& [name, file] : skill.files) env.out(TerminalText::Format("  {}\n", name));
  return {};
}

Status Install(const InstallOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<InstallTarget> targets, TargetsOf(options.where, options.dry_run, env));
  ASSIGN_OR_RETURN(const fs::path records_folder, RecordsFolder(env));
  ASSIGN_OR_RETURN(const SkillToInstall found,
                   ReadInstallSource(options.skill, options.link ? InstallMode::kLink : InstallMode::kCopy,
                                     options.with_tests ? EvaluationFiles::kIncluded : EvaluationFiles::kLeftOut, env));
  const auto& [source, skill] = found;
  for (const std::string& warning : skill.warnings) PrintWarning(env, warning);
  if (options.dry_run) return ShowInstall(options, skill, source, targets, records_folder, env);
  ASSIGN_OR_RETURN(InstallRecords records, InstallRecords::Open(records_folder));
  ASSIGN_OR_RETURN(const std::vector<InstallPlan> plans, PlansFor(options, skill, source, targets, records.skills()));
  for (const InstallPlan& plan : plans) {
    RETURN_IF_ERROR(CarryOut(plan, skill, records));
    env.out(OutcomeOf(plan, skill, false));
  }
  return {};
}

TerminalText OutcomeOf(const RemovalPlan& plan, bool dry_run) {
  const char* const would = dry_run ? "would be " : "";
  switch (plan.step) {
    case RemovalPlan::Step::kRemove:
      return TerminalText::Format("{}: {}removed from {}\n", plan.skill.name, would, plan.skill.folder.parent_path());
    case RemovalPlan::Step::kForget:
      return TerminalText::Format("{}: was removed from {} before, {}forgotten now\n", plan.skill.name,
                                  plan.skill.folder.parent_path(), would);
    case RemovalPlan::Step::kKeepForOthers:
      break;
  }
  return TerminalText::Format("{}: {}kept in {} for {}\n", plan.skill.name, would, plan.skill.folder.parent_path(),
                              NamesOfAgents(plan.skill.agents));
}

// Where a skill is installed that isn't where it was looked for; empty: nowhere.
std::string OtherPlaceOf(const std::string& name, const std::vector<InstalledSkill>& installed) {
  for (const InstalledSkill& skill : installed) {
    if (skill.name != name) continue;
    return fmt::format("; it is installed in {}, for {}", skill.folder.parent_path().string(),
                       skill.project.empty() ? "all projects: add --user" : NamesOfAgents(skill.agents));
  }
  return "";
}

Result<std::vector<RemovalPlan>> RemovalsOf(const UninstallOptions& options, const std::vector<InstallTarget>& targets,
                                            const std::vector<InstalledSkill>& installed) {
  // Of all agents, those that have it; of named ones, each must.
  const bool all = MeansAllAgents(options.where.agents);
  std::vector<RemovalPlan> plans;
  for (const InstallTarget& target : targets) {
    Result<RemovalPlan> plan = PlanRemoval(options.name, target, installed, options.force ? Force::kYes : Force::kNo);
    if (!plan && plan.error().kind == ErrorKind::kNotFound) {
      if (all && (&target != &targets.back() || !plans.empty())) continue;
      Error error = plan.error().With(NamesOfAgents(target.agents));
      error.message += OtherPlaceOf(options.name, installed);
      return error;
    }
    if (!plan) return plan.error();
    plans.push_back(*std::move(plan));
  }
  return plans;
}

Status Uninstall(const UninstallOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<InstallTarget> targets, TargetsOf(options.where, true, env));
  ASSIGN_OR_RETURN(const fs::path records_folder, RecordsFolder(env));
  if (options.dry_run) {
    ASSIGN_OR_RETURN(const std::vector<InstalledSkill> installed, LoadInstalledSkills(records_folder));
    ASSIGN_OR_RETURN(const std::vector<RemovalPlan> plans, RemovalsOf(options, targets, installed));
    for (const RemovalPlan& plan : plans) env.out(OutcomeOf(plan, true));
    return {};
  }
  ASSIGN_OR_RETURN(InstallRecords records, InstallRecords::Open(records_folder));
  ASSIGN_OR_RETURN(const std::vector<RemovalPlan> plans, RemovalsOf(options, targets, records.skills()));
  for (const RemovalPlan& plan : plans) {
    RETURN_IF_ERROR(CarryOut(plan, records));
    env.out(OutcomeOf(plan, false));
  }
  return {};
}

void AddInstallCommand(CLI::App& app, InstallOptions& options) {
  CLI::App* command =
      app.add_subcommand("install", "Install a skill where an agent finds it")->group("Skills for agents");
  command
      ->add_option("SKILL", options.skill,
                   "Skill: its folder, a .skill or .zip archive, a name in the configured folder of skills, or a git "
                   "repository: URL/tree/REF/PATH, user@host:repo or git+URL#REF:PATH")
      ->required();
  BeginGroup(*command, "Where");
  AddAgentOptions(*command, options.where, "with --dry-run, all");
  BeginGroup(*command, "How");
  CLI::Option* const copy = command->add_flag("--copy", options.copy, "Copy the skill, the default");
  command->add_flag("--link", options.link, "Make a symbolic link to the skill's folder, which then stays current")
      ->excludes(copy);
  command->add_flag("--with-tests", options.with_tests, "Copy tests, answers and runs of the skill too");
  command->add_flag("--force", options.force, "Replace what was changed since, or wasn't installed by upskill");
  command->add_flag("--dry-run", options.dry_run, "Show what would be done, and write nothing");
  AddExamples(*command, {{"Install a skill for Claude Code in this project",
                          "upskill install skills/pdf-forms --agent claude-code"},
                         {"For all of your projects, as a link",
                          "upskill install skills/pdf-forms --agent codex --agent pi --user --link"},
                         {"From a git repository; `update` asks it again",
                          "upskill install https://github.com/you/skills/tree/main/pdf-forms --agent codex"},
                         {"See where it would go", "upskill install pdf-forms.skill --agent all --dry-run"}});
  AddHelpNote(*command, "The folders of agents are in docs/install.md.");
}

ExitCode RunInstall(const InstallOptions& options, Env& env) {
  const Status done = Install(options, env);
  return done ? ExitCode::kSuccess : PrintError(env, done.error());
}

void AddUninstallCommand(CLI::App& app, UninstallOptions& options) {
  CLI::App* command = app.add_subcommand("uninstall", "Remove a skill that was installed")->group("Skills for agents");
  command->add_option("NAME", options.name, "Name of the skill")->required();
  BeginGroup(*command, "Where");
  AddAgentOptions(*command, options.where);
  BeginGroup(*command, "How");
  command->add_flag("--force", options.force, "Remove it even if it was changed since, or wasn't installed by upskill");
  command->add_flag("--dry-run", options.dry_run, "Show what would be done, and write nothing");
  AddExamples(*command, {{"Remove a skill from this project", "upskill uninstall pdf-forms --agent claude-code"},
                         {"Remove one of your own", "upskill uninstall pdf-forms --agent codex --user"},
                         {"Remove it from every agent that has it", "upskill uninstall pdf-forms --agent all"}});
}

ExitCode RunUninstall(const UninstallOptions& options, Env& env) {
  const Status done = Uninstall(options, env);
  return done ? ExitCode::kSuccess : PrintError(env, done.error());
}

}  // namespace

Command InstallCommand() { return CommandOf({"install"}, AddInstallCommand, RunInstall); }

Command UninstallCommand() { return CommandOf({"uninstall"}, AddUninstallCommand, RunUninstall); }

}  // namespace upskill
