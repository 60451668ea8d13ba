// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/options/help_formatter.h"
#include "cli/options/option_checks.h"
#include "cli/skills/agent_option.h"
#include "cli/skills/audited_skill.h"
#include "cli/skills/commands.h"
#include "cli/skills/install_source.h"
#include "cli/skills/locked_skills.h"
#include "install/install.h"
#include "install/install_records.h"
#include "install/skill_lock.h"
#include "util/text.h"

namespace upskill {
namespace {

struct InstallOptions {
  std::string skill;  // empty with `frozen`
  AgentChoice where;
  bool frozen = false;  // everything in the project's lock, as it is there
  bool no_lock = false;
  bool link = false;
  bool copy = false;
  bool with_tests = false;
  bool force = false;
  bool accept_findings = false;
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
  return "is already installed";
}

TerminalText OutcomeOf(const InstallPlan& plan, const SkillFiles& skill, bool dry_run) {
  constexpr std::size_t kShownOfCommit = 12;
  std::string what = plan.skill.mode == InstallMode::kLink ? fmt::format("link to {}", plan.skill.source.string())
                                                           : Counted(skill.files.size(), "file");
  if (!plan.skill.commit.empty()) what += fmt::format(" of commit {}", plan.skill.commit.substr(0, kShownOfCommit));
  return TerminalText::Format("{}: {} in {} for {} · {}\n", skill.name, WhatIsDone(plan.step, dry_run),
                              plan.skill.folder, NamesOfAgents(plan.skill.agents), what);
}

Result<std::vector<InstallPlan>> PlansFor(const InstallOptions& options, const SkillToInstall& skill,
                                          const std::vector<InstalledSkill>& installed) {
  std::vector<InstallPlan> plans;
  for (const InstallTarget& target : skill.targets) {
    ASSIGN_OR_RETURN(InstallPlan plan, PlanInstall(skill.files, skill.source, target, installed,
                                                   options.force ? Force::kYes : Force::kNo));
    plans.push_back(std::move(plan));
  }
  return plans;
}

// Shows what would be done, with the files that would be copied.
Status ShowInstall(const InstallOptions& options, const std::vector<SkillToInstall>& skills,
                   const fs::path& records_folder, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<InstalledSkill> installed, LoadInstalledSkills(records_folder));
  for (const SkillToInstall& skill : skills) {
    ASSIGN_OR_RETURN(const std::vector<InstallPlan> plans, PlansFor(options, skill, installed));
    for (const InstallPlan& plan : plans) env.out(OutcomeOf(plan, skill.files, true));
    if (skill.source.mode == InstallMode::kLink) continue;
    for (const auto& [name, file] : skill.files.files) env.out(TerminalText::Format("  {}\n", name));
  }
  return {};
}

Result<std::vector<SkillToInstall>> SkillsMeant(const InstallOptions& options, const Env& env) {
  if (options.frozen) {
    if (!options.skill.empty() || options.where.user || options.link || options.with_tests)
      return InputError(
          "--frozen installs what the project's lock says: leave out the skill, --user, --link and "
          "--with-tests");
    return ReadLockedSkills(options.where.agents, env);
  }
  if (options.skill.empty()) return InputError("missing argument: SKILL; or --frozen for all that the lock says");
  if (options.where.agents.empty())
    return InputError(fmt::format("missing option: --agent; the agents are {}", AgentIds()));
  ASSIGN_OR_RETURN(std::vector<InstallTarget> targets, TargetsOf(options.where, options.dry_run, env));
  ASSIGN_OR_RETURN(SkillToInstall skill,
                   ReadInstallSource(options.skill, options.link ? InstallMode::kLink : InstallMode::kCopy,
                                     options.with_tests ? EvaluationFiles::kIncluded : EvaluationFiles::kLeftOut, env));
  skill.targets = std::move(targets);
  return std::vector{std::move(skill)};
}

// The lock of the project that a target is in; nothing: there is none to change.
Result<std::optional<SkillLock>> LockFor(const SkillsFolder& place) {
  if (place.project.empty()) return std::optional<SkillLock>();
  ASSIGN_OR_RETURN(SkillLock lock, SkillLock::Open(place.project));
  return std::optional(std::move(lock));
}

void SayThatLocked(const std::string& skill, const fs::path& project, const char* what, const Env& env) {
  env.out(TerminalText::Format("{}: {} {}\n", skill, what, project / kSkillLockFile));
}

Status Install(const InstallOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const fs::path records_folder, RecordsFolder(env));
  ASSIGN_OR_RETURN(const std::vector<SkillToInstall> skills, SkillsMeant(options, env));
  for (const SkillToInstall& skill : skills) {
    for (const std::string& warning : skill.files.warnings) PrintWarning(env, warning);
    if (!options.accept_findings) RETURN_IF_ERROR(CheckAudit(skill.files, skill.source));
  }
  if (options.dry_run) return ShowInstall(options, skills, records_folder, env);
  ASSIGN_OR_RETURN(InstallRecords records, InstallRecords::Open(records_folder));
  std::optional<SkillLock> lock;
  const bool locks = !options.frozen && !options.no_lock;
  if (locks) {
    ASSIGN_OR_RETURN(lock, LockFor(skills.front().targets.front().place));
  }
  std::vector<std::vector<InstallPlan>> plans;  // all before the first is carried out
  for (const SkillToInstall& skill : skills) {
    ASSIGN_OR_RETURN(plans.emplace_back(), PlansFor(options, skill, records.skills()));
  }
  if (lock) {
    std::vector<InstalledSkill> installed;
    for (const InstallPlan& plan : plans.front()) installed.push_back(plan.skill);
    RETURN_IF_ERROR(lock->CheckCovered(installed));
  }
  for (std::size_t i = 0; i < skills.size(); ++i) {
    bool is_locked = false;
    for (const InstallPlan& plan : plans[i]) {
      const auto install = [&] { return CarryOut(plan, skills[i].files, records); };
      if (lock) {
        ASSIGN_OR_RETURN(const bool changed, lock->Put(plan.skill, options.skill, install));
        is_locked = is_locked || changed;
      } else {
        RETURN_IF_ERROR(install());
      }
      env.out(OutcomeOf(plan, skills[i].files, false));
    }
    if (is_locked)
      SayThatLocked(skills[i].files.name, plans[i].front().skill.project, options.link ? "left out of" : "locked in",
                    env);
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

struct Removals {
  std::vector<RemovalPlan> plans;
  std::optional<Error> kept;  // with `all`: why some of it stays, the first reason
};

Result<Removals> RemovalsOf(const UninstallOptions& options, const std::vector<InstallTarget>& targets,
                            const std::vector<InstalledSkill>& installed) {
  // Of all agents, those that have it; of named ones, each must.
  const bool all = MeansAllAgents(options.where.agents);
  Removals removals;
  for (const InstallTarget& target : targets) {
    Result<RemovalPlan> plan = PlanRemoval(options.name, target, installed, options.force ? Force::kYes : Force::kNo);
    if (plan) {
      removals.plans.push_back(*std::move(plan));
      continue;
    }
    const bool is_absent = plan.error().kind == ErrorKind::kNotFound;
    if (all && is_absent && (&target != &targets.back() || !removals.plans.empty() || removals.kept)) continue;
    if (all && !is_absent) {
      if (!removals.kept) removals.kept = plan.error();
      continue;
    }
    Error error = plan.error();
    if (is_absent) {
      error = error.With(NamesOfAgents(target.agents));
      error.message += OtherPlaceOf(options.name, installed);
    }
    return error;
  }
  return removals;
}

Status Uninstall(const UninstallOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const std::vector<InstallTarget> targets, TargetsOf(options.where, true, env));
  ASSIGN_OR_RETURN(const fs::path records_folder, RecordsFolder(env));
  if (options.dry_run) {
    ASSIGN_OR_RETURN(const std::vector<InstalledSkill> installed, LoadInstalledSkills(records_folder));
    ASSIGN_OR_RETURN(const Removals removals, RemovalsOf(options, targets, installed));
    for (const RemovalPlan& plan : removals.plans) env.out(OutcomeOf(plan, true));
    return removals.kept ? Status(*removals.kept) : Status();
  }
  ASSIGN_OR_RETURN(InstallRecords records, InstallRecords::Open(records_folder));
  ASSIGN_OR_RETURN(const Removals removals, RemovalsOf(options, targets, records.skills()));
  ASSIGN_OR_RETURN(std::optional<SkillLock> lock, LockFor(targets.front().place));
  bool is_unlocked = false;
  for (const RemovalPlan& plan : removals.plans) {
    const auto remove = [&] { return CarryOut(plan, records); };
    const auto target = std::find_if(targets.begin(), targets.end(), [&](const InstallTarget& meant) {
      return meant.place.folder == plan.place.folder;
    });
    if (lock) {
      ASSIGN_OR_RETURN(const bool changed,
                       lock->Remove(options.name, *target, plan.step != RemovalPlan::Step::kKeepForOthers, remove));
      is_unlocked = is_unlocked || changed;
    } else {
      RETURN_IF_ERROR(remove());
    }
    env.out(OutcomeOf(plan, false));
  }
  if (is_unlocked) SayThatLocked(options.name, targets.front().place.project, "removed from", env);
  return removals.kept ? Status(*removals.kept) : Status();
}

void AddInstallCommand(CLI::App& app, InstallOptions& options) {
  CLI::App* command =
      app.add_subcommand("install", "Install a skill where an agent finds it")->group("Skills for agents");
  command->add_option(
      "SKILL", options.skill,
      "Skill: its folder, a .skill or .zip archive, a name in the configured folder of skills, or a git "
      "repository: URL/tree/REF/PATH, user@host:repo or git+URL#REF:PATH");
  BeginGroup(*command, "Where");
  AddAgentOptions(*command, options.where, "with --dry-run, all")->required(false);
  BeginGroup(*command, "How");
  command->add_flag("--frozen", options.frozen,
                    "Install everything in the project's upskill.lock (else skills-lock.json) exactly as it is there");
  command->add_flag("--no-lock", options.no_lock, "Leave the project's upskill.lock as it is");
  CLI::Option* const copy = command->add_flag("--copy", options.copy, "Copy the skill, the default");
  command->add_flag("--link", options.link, "Make a symbolic link to the skill's folder, which then stays current")
      ->excludes(copy);
  command->add_flag("--with-tests", options.with_tests, "Copy tests, answers and runs of the skill too");
  command->add_flag("--force", options.force, "Replace what was changed since, or wasn't installed by upskill");
  command->add_flag("--accept-findings", options.accept_findings,
                    "Install it in spite of severe findings (see `upskill audit`)");
  command->add_flag("--dry-run", options.dry_run, "Show what would be done, and write nothing");
  AddExamples(*command, {{"Install a skill for Claude Code in this project",
                          "upskill install skills/pdf-forms --agent claude-code"},
                         {"For all of your projects, as a link",
                          "upskill install skills/pdf-forms --agent codex --agent pi --user --link"},
                         {"From a git repository; `update` asks it again",
                          "upskill install https://github.com/you/skills/tree/main/pdf-forms --agent codex"},
                         {"After cloning a project: the skills in its upskill.lock", "upskill install --frozen"},
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
