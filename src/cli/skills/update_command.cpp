// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "cli/options/help_formatter.h"
#include "cli/skills/agent_option.h"
#include "cli/skills/audited_skill.h"
#include "cli/skills/commands.h"
#include "cli/skills/install_source.h"
#include "install/install_records.h"
#include "install/skill_diff.h"
#include "install/skill_lock.h"
#include "install/update.h"
#include "skill/skill_tree.h"
#include "util/nearest_name.h"

namespace upskill {
namespace {

struct UpdateOptions {
  std::vector<std::string> names;   // empty: all
  std::vector<std::string> agents;  // empty: all
  bool everywhere = false;          // also the copies in other projects
  bool force = false;
  bool accept_findings = false;
  bool dry_run = false;
};

namespace fs = std::filesystem;

Status CheckNames(const std::vector<std::string>& names, const std::vector<InstalledSkill>& installed) {
  std::vector<std::string> known;
  known.reserve(installed.size());
  for (const InstalledSkill& skill : installed) known.push_back(skill.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    return Error{ErrorKind::kNotFound, fmt::format("no skill '{}' is installed{}; `upskill list --agent NAME` shows "
                                                   "what is",
                                                   name, DidYouMean(name, known))};
  }
  return {};
}

// Of a skill from git: ", commit 1a2b3c4 → 5d6e7f8".
std::string CommitsText(const InstalledSkill& before, const UpdatePlan& plan) {
  constexpr std::size_t kShown = 12;
  const std::string old_commit = before.commit.substr(0, kShown);
  const std::string new_commit = plan.install.skill.commit.substr(0, kShown);
  if (new_commit.empty()) return "";
  return old_commit == new_commit ? fmt::format(", commit {}", new_commit)
                                  : fmt::format(", commit {} → {}", old_commit, new_commit);
}

std::string TextOf(const InstalledSkill& before, const UpdatePlan& plan, bool dry_run) {
  using Step = UpdatePlan::Step;
  switch (plan.step) {
    case Step::kUpdate:
      return (dry_run ? "would be updated" : "updated") + CommitsText(before, plan);
    case Step::kUnchanged:
      return "unchanged" + CommitsText(before, plan);
    case Step::kChangedByUser:
      return fmt::format("changed by you ({}); --force replaces it, and your changes are lost", plan.detail);
    case Step::kRemovedByUser:
      return "removed by you; --force installs it again, `upskill uninstall` forgets it";
    case Step::kSourceGone:
      return fmt::format("source gone: {}; install it from another place, or uninstall it", plan.detail);
    case Step::kUnusable:
      break;
  }
  return plan.detail;
}

// Shows what a skill's update changes, before it is carried out: agents will follow the new text. Whatever else is
// known of the change, and may speak against it, is said here. `shown`: hashes of changes that were shown, for other
// agents.
void ShowChange(const InstalledSkill& before, const UpdatePlan& plan, std::set<std::string>& shown, const Env& env) {
  constexpr std::size_t kMostLines = 60;
  if (before.mode == InstallMode::kLink) return;
  const Result<FileMap> files = ReadSkillFiles(before.folder, {}, OddEntries::kLeftOut, {});
  if (!files) return;  // the copy was removed: there is nothing to compare with
  if (!shown.insert(TreeSha256(HashesOf(*files)) + TreeSha256(plan.install.skill.files)).second) return;
  env.out(TerminalText::Format("{} changes:\n", before.name));
  for (const DiffLine& line : SkillDiff(*files, plan.source.files, kMostLines)) {
    const char* const mark = line.kind == DiffLine::Kind::kFile      ? "  "
                             : line.kind == DiffLine::Kind::kRemoved ? "  - "
                                                                     : "  + ";
    env.out(TerminalText::Format("{}{}", mark, line.text).Cut(env.columns) + "\n");
  }
}

struct PlannedUpdate {
  const InstalledSkill* skill = nullptr;
  UpdatePlan plan;
};

// The copies of a skill in its project that have the new version once the plans are carried out, this one first.
std::vector<InstalledSkill> CopiesAfter(const UpdatePlan& plan, const std::vector<PlannedUpdate>& plans) {
  std::vector<InstalledSkill> copies = {plan.install.skill};
  for (const auto& [skill, other] : plans) {
    const bool is_current = other.step == UpdatePlan::Step::kUpdate || other.step == UpdatePlan::Step::kUnchanged;
    if (is_current && skill->name == copies.front().name && skill->project == copies.front().project)
      copies.push_back(*skill);
  }
  return copies;
}

// Remembers what was installed, also in the lock of its project, if it is there. Error (kInput): another copy would
// stay at the version that is locked.
Status CarryOutUpdate(const UpdatePlan& plan, const std::vector<PlannedUpdate>& plans, InstallRecords& records) {
  const InstalledSkill& skill = plan.install.skill;
  const auto install = [&] { return CarryOut(plan.install, plan.source, records); };
  if (skill.project.empty()) return install();
  ASSIGN_OR_RETURN(SkillLock lock, SkillLock::Open(skill.project));
  RETURN_IF_ERROR(lock.CheckCovered(CopiesAfter(plan, plans)));
  if (lock.Find(skill.name) == nullptr) return install();
  RETURN_IF_ERROR(lock.Put(skill, "", install));
  return {};
}

// Whether all of them are current.
Result<bool> Update(const UpdateOptions& options, const std::vector<InstalledSkill>& installed, const fs::path& project,
                    InstallRecords* records, const Env& env) {
  RETURN_IF_ERROR(CheckNames(options.names, installed));
  ASSIGN_OR_RETURN(const std::vector<const Agent*> agents, AgentsNamed(options.agents, true));
  const auto is_for = [&](const InstalledSkill& skill) {
    return agents.empty() || std::any_of(agents.begin(), agents.end(), [&](const Agent* agent) {
             return std::find(skill.agents.begin(), skill.agents.end(), agent->id) != skill.agents.end();
           });
  };
  GitRepositories repositories(GitLimitsOf(env));
  std::vector<PlannedUpdate> plans;  // all before the first is carried out
  for (const InstalledSkill& skill : installed) {
    const bool is_meant = options.names.empty() ||
                          std::find(options.names.begin(), options.names.end(), skill.name) != options.names.end();
    if (!is_meant || !is_for(skill)) continue;
    ASSIGN_OR_RETURN(UpdatePlan plan,
                     PlanUpdate(skill, installed, options.force ? Force::kYes : Force::kNo, repositories));
    if (plan.step == UpdatePlan::Step::kUpdate && !options.accept_findings) {
      const Status audited = CheckAudit(plan.source, {skill.source, "", skill.mode, skill.evaluation});
      if (!audited) {
        plan.step = UpdatePlan::Step::kUnusable;
        plan.detail = "not updated: " + audited.error().message;
      }
    }
    plans.push_back({&skill, std::move(plan)});
  }
  bool all_current = true;
  std::set<std::string> shown;
  for (const auto& [planned, plan] : plans) {
    const InstalledSkill& skill = *planned;
    const bool unchanged = plan.step == UpdatePlan::Step::kUnchanged;
    if (plan.step == UpdatePlan::Step::kUpdate) ShowChange(skill, plan, shown, env);
    const bool changes_record =
        plan.step == UpdatePlan::Step::kUpdate || (unchanged && plan.install.skill.commit != skill.commit);
    Status done;
    if (changes_record && records != nullptr) done = CarryOutUpdate(plan, plans, *records);
    if (!done && done.error().kind != ErrorKind::kInput) return done.error();
    all_current = all_current && done && (plan.step == UpdatePlan::Step::kUpdate || unchanged);
    const std::string what = done ? TextOf(skill, plan, records == nullptr) : done.error().message;
    env.out(TerminalText::Format("{} in {}: {}\n", skill.name, skill.folder.parent_path(),
                                 TerminalText::EscapeIndented(what)));
  }
  if (!plans.empty()) return all_current;
  const Result<std::vector<LockedSkill>> locked = LoadSkillLock(project);
  if (locked && !locked->empty()) {
    env.error(TerminalText::Format(
        "nothing is installed in this project: `upskill install --frozen` installs what {} says\n", kSkillLockFile));
  } else {
    env.error("no skills are installed here; `upskill install SKILL --agent NAME` installs one\n");
  }
  return true;
}

Result<bool> UpdateInstalled(const UpdateOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const fs::path records_folder, RecordsFolder(env));
  ASSIGN_OR_RETURN(const fs::path current, CurrentFolder());
  const fs::path project = ProjectRootOf(current);
  const auto meant = [&](std::vector<InstalledSkill> skills) {
    std::erase_if(skills, [&](const InstalledSkill& skill) {
      return !options.everywhere && !skill.project.empty() && skill.project != project;
    });
    return skills;
  };
  ASSIGN_OR_RETURN(std::vector<InstalledSkill> installed, LoadInstalledSkills(records_folder));
  installed = meant(std::move(installed));
  if (options.dry_run || installed.empty()) return Update(options, installed, project, nullptr, env);
  ASSIGN_OR_RETURN(InstallRecords records, InstallRecords::Open(records_folder));
  const std::vector<InstalledSkill> skills = meant(records.skills());  // a copy: they change meanwhile
  return Update(options, skills, project, &records, env);
}

void AddUpdateCommand(CLI::App& app, UpdateOptions& options) {
  CLI::App* command =
      app.add_subcommand("update", "Update installed skills whose source has changed")->group("Skills for agents");
  command->add_option("NAME", options.names,
                      "Name of an installed skill; without it, all of this project and of the user");
  command
      ->add_option("--agent", options.agents,
                   fmt::format("Only what is installed for this agent (repeatable): {}; or all", AgentIds()))
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->add_flag("--everywhere", options.everywhere, "Also update the copies in other projects");
  command->add_flag("--force", options.force, "Replace skills that were changed since they were installed");
  command->add_flag("--accept-findings", options.accept_findings,
                    "Update skills in spite of severe findings (see `upskill audit`)");
  command->add_flag("--dry-run", options.dry_run, "Show what would be done, and write nothing");
  AddExamples(*command, {{"Update the skills of this project and your own", "upskill update"},
                         {"See what would be updated", "upskill update --dry-run"}});
  AddHelpNote(
      *command,
      "Exit code 1: a skill was changed or removed since, or its source can't be used. The project's upskill.lock "
      "changes with the skills that are in it.");
}

// Exit code kFailed: at least one skill isn't current.
ExitCode RunUpdate(const UpdateOptions& options, Env& env) {
  const Result<bool> all_current = UpdateInstalled(options, env);
  if (!all_current) return PrintError(env, all_current.error());
  return *all_current ? ExitCode::kSuccess : ExitCode::kFailed;
}

}  // namespace

Command UpdateCommand() { return CommandOf({"update"}, AddUpdateCommand, RunUpdate); }

}  // namespace upskill
