// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/locked_skills.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "cli/options/help_formatter.h"
#include "cli/skills/agent_option.h"
#include "cli/skills/commands.h"
#include "install/found_skills.h"
#include "install/install_records.h"
#include "install/skill_archive.h"
#include "install/skill_lock.h"
#include "install/skills_cli_lock.h"
#include "skill/skill_tree.h"
#include "util/list.h"
#include "util/nearest_name.h"
#include "util/text.h"
#include "util/user_folders.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kCommitDigits = 12;

Result<fs::path> ProjectHere() {
  ASSIGN_OR_RETURN(const fs::path current, CurrentFolder());
  return ProjectRootOf(current);
}

// The skill at this commit, or with an empty one the newest of its branch.
Result<SkillToInstall> FetchFrom(const GitSource& git, const std::string& commit, EvaluationFiles evaluation,
                                 GitRepositories& repositories) {
  GitSource asked = git;
  if (!commit.empty()) asked.ref = commit;
  ASSIGN_OR_RETURN(FetchedSkill fetched, repositories.Skill(asked, evaluation));
  const GitSource found{git.url, git.ref, fetched.path};
  return SkillToInstall{
      {GitSourceText(found), fetched.commit, InstallMode::kCopy, evaluation}, std::move(fetched.files), {}};
}

Result<SkillToInstall> ReadFrom(const fs::path& path, EvaluationFiles evaluation) {
  ASSIGN_OR_RETURN(SkillFiles files, ReadSkillSource(path, evaluation));
  return SkillToInstall{{path, "", InstallMode::kCopy, evaluation}, std::move(files), {}};
}

// What the source of a locked skill has: what is locked, or the newest.
enum class Wanted { kLocked, kNewest };

Result<SkillToInstall> SourceOf(const LockedSkill& locked, const fs::path& project, Wanted wanted,
                                GitRepositories& repositories) {
  if (locked.git.url.empty()) return ReadFrom((project / locked.source).lexically_normal(), locked.evaluation);
  return FetchFrom(locked.git, wanted == Wanted::kLocked ? locked.commit : "", locked.evaluation, repositories);
}

Error NoLongerThere(const std::string& source) {
  return InputError(fmt::format(
      "the files of {} no longer match the SHA-256 in the lock; find out why before you install the skill again",
      source));
}

Result<SkillToInstall> Restored(const LockedSkill& locked, const fs::path& project, GitRepositories& repositories) {
  Result<SkillToInstall> found = SourceOf(locked, project, Wanted::kLocked, repositories);
  if (!found && found.error().kind == ErrorKind::kNotFound && !locked.commit.empty()) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("{} no longer has the locked commit {}, or no skill in it; find out who rewrote it, then "
                             "install the skill again",
                             locked.git.url, locked.commit.substr(0, kCommitDigits))};
  }
  ASSIGN_OR_RETURN(SkillToInstall skill, std::move(found));
  const bool is_same = skill.files.name == locked.name && TreeSha256(HashesOf(skill.files.files)) == locked.sha256 &&
                       skill.source.commit == locked.commit;
  if (!is_same) return NoLongerThere(skill.source.path.string());
  return skill;
}

// The same for an entry of skills-lock.json. Its hash is of all files, what measures the skill included.
Result<SkillToInstall> Restored(const SkillsCliEntry& entry, const fs::path& project, GitRepositories& repositories) {
  constexpr EvaluationFiles kWithTests = EvaluationFiles::kIncluded;
  if (!entry.problem.empty()) return InputError(entry.problem);
  Result<SkillToInstall> skill = InputError("");
  if (entry.git.url.empty()) {
    skill = ReadFrom((project / entry.folder).lexically_normal(), kWithTests);
  } else {
    // Older entries have no path: the skill's folder has its name, or there is only one.
    GitSource source = entry.git;
    if (source.path.empty()) source.path = entry.name;
    skill = FetchFrom(source, "", kWithTests, repositories);
    if (!skill && skill.error().kind == ErrorKind::kNotFound && entry.git.path.empty())
      skill = FetchFrom(entry.git, "", kWithTests, repositories);
  }
  if (!skill) return skill.error();
  ASSIGN_OR_RETURN(const std::string sha256, SkillsCliHash(skill->files.files));
  if (skill->files.name != entry.name || sha256 != entry.sha256) return NoLongerThere(skill->source.path.string());
  skill->source.evaluation = EvaluationFiles::kLeftOut;
  std::erase_if(skill->files.files,
                [](const auto& file) { return IsLeftBehind(file.first, EvaluationFiles::kLeftOut); });
  return skill;
}

// Restores every entry that is for one of the agents. Errors of several are one, a line for each.
template <typename Entry, typename AgentsOf>
Result<std::vector<SkillToInstall>> RestoreAll(const std::vector<Entry>& entries, const AgentsOf& agents_of,
                                               const fs::path& project, const Env& env) {
  GitRepositories repositories(GitLimitsOf(env));
  std::vector<SkillToInstall> skills;
  std::optional<Error> failed;
  for (const Entry& entry : entries) {
    ASSIGN_OR_RETURN(const std::vector<const Agent*> agents, AgentsNamed(agents_of(entry), true));
    if (agents.empty()) continue;
    Result<SkillToInstall> skill = Restored(entry, project, repositories);
    if (!skill && skill.error().kind == ErrorKind::kCancelled) return skill.error();
    if (!skill) {
      const Error error = skill.error().With(entry.name);
      if (failed) {
        failed->message += "\n" + error.message;
      } else {
        failed = error;
      }
      continue;
    }
    ASSIGN_OR_RETURN(skill->targets, TargetsFor(agents, InstallScope::kProject, project, env.variable));
    skills.push_back(*std::move(skill));
  }
  if (failed) {
    failed->message += "\nnothing was installed";
    return *failed;
  }
  return skills;
}

// A copy that isn't as it is locked: its name, its folder in the project, and how it differs.
struct Difference {
  std::string name;
  fs::path folder;
  std::string what;
};

// Python runs what is in these folders instead of the programs beside them, and nothing in them is locked.
std::string CachedPrograms(const fs::path& folder) {
  for (const auto& [name, type] : ListSkillFolder(folder, {}).entries) {
    const fs::path parent = fs::path(name).parent_path();
    if (parent.filename() == "__pycache__")
      return fmt::format("{} isn't locked, and Python runs what is in it; remove it", parent.string());
  }
  return "";
}

std::string HowItDiffers(const fs::path& folder, const LockedSkill& locked,
                         const std::vector<InstalledSkill>& installed) {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(folder, code);
  if (!fs::exists(status)) return "missing; upskill install --frozen restores it";
  if (!fs::is_directory(status)) return "changed: it is a link or a file, not a folder";
  const Result<FileHashes> found = HashesIn(folder);
  if (!found) return "changed: " + found.error().message;
  if (TreeSha256(*found) == locked.sha256) return CachedPrograms(folder);
  // Which files differ is known where the locked version was installed on this machine.
  for (const InstalledSkill& known : installed) {
    if (known.folder != folder || TreeSha256(known.files) != locked.sha256) continue;
    const Result<std::vector<std::string>> differences = DifferencesFrom(known.files, folder);
    if (!differences || differences->empty())
      return "changed: which files may be executed; upskill install --frozen restores it";
    return "changed: " + DifferencesText(*differences);
  }
  return "changed: not the locked version; upskill install --frozen --force restores it";
}

// The project folders in which agents look for skills; those of [others] may be a project's own (`skills`).
std::vector<fs::path> ProjectFolders(const fs::path& project) {
  std::vector<fs::path> folders;
  for (const Agent& agent : KnownAgents()) {
    if (agent.is_other) continue;
    for (const std::string& name : agent.project_folders) {
      if (fs::path folder = project / name; !IsOneOf(folder, folders)) folders.push_back(std::move(folder));
    }
  }
  return folders;
}

struct Comparison {
  std::size_t same = 0;
  std::vector<Difference> differences;
};

Comparison Compare(const std::vector<LockedSkill>& locked, const fs::path& project,
                   const std::vector<InstalledSkill>& installed, bool allow_unlocked) {
  Comparison comparison;
  std::map<std::string, std::vector<fs::path>> places;  // by name: where it is locked to be
  for (const LockedSkill& skill : locked) {
    for (const fs::path& folder : places[skill.name] = FoldersOf(skill, project)) {
      std::string what = HowItDiffers(folder, skill, installed);
      if (what.empty()) {
        ++comparison.same;
      } else {
        comparison.differences.push_back({skill.name, folder, std::move(what)});
      }
    }
  }
  for (const fs::path& skills : ProjectFolders(project)) {
    for (const fs::path& folder : SkillFoldersIn(skills)) {
      const std::string name = folder.filename().string();
      const auto known = places.find(name);
      if (known == places.end()) {
        if (!allow_unlocked) comparison.differences.push_back({name, folder, "not locked"});
      } else if (!IsOneOf(folder, known->second)) {
        comparison.differences.push_back({name, folder, "also there: the lock doesn't list this agent"});
      }
    }
  }
  return comparison;
}

struct VerifyOptions {
  bool allow_unlocked = false;
};

Result<bool> Verify(const VerifyOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const fs::path project, ProjectHere());
  ASSIGN_OR_RETURN(const std::vector<LockedSkill> locked, LoadSkillLock(project));
  ASSIGN_OR_RETURN(const std::vector<InstalledSkill> installed, LoadInstalledSkills(UserConfigFolder(env.variable)));
  const auto [same, differences] = Compare(locked, project, installed, options.allow_unlocked);
  if (differences.empty()) {
    env.out(TerminalText::Format("{} {}\n", same == 1 ? "The skill matches" : fmt::format("All {} copies match", same),
                                 kSkillLockFile));
    return true;
  }
  env.out(TerminalText::Format(
      "{} from {}; {}\n",
      differences.size() == 1 ? "1 copy differs" : fmt::format("{} copies differ", differences.size()), kSkillLockFile,
      same == 1 ? "1 matches" : fmt::format("{} match", same)));
  for (const auto& [name, folder, what] : differences) {
    env.out(TerminalText::Format("{} in {}: {}\n", name, folder.parent_path().lexically_relative(project), what));
  }
  return false;
}

// How a skill's source compares with the lock.
struct Newest {
  std::string what;  // empty: nothing has changed
  bool differs = true;
};

Newest CompareNewest(const LockedSkill& locked, const SkillToInstall& newest) {
  if (newest.files.name != locked.name) return {fmt::format("the source is the skill '{}' now", newest.files.name)};
  const bool differs = TreeSha256(HashesOf(newest.files.files)) != locked.sha256;
  if (newest.source.commit == locked.commit && !differs) return {"", false};
  const char* const files = differs ? "the skill's files differ" : "the skill's files are the same";
  if (locked.commit.empty()) return {files, differs};
  return {fmt::format("commit {} → {}, {}", locked.commit.substr(0, kCommitDigits),
                      newest.source.commit.substr(0, kCommitDigits), files),
          differs};
}

struct OutdatedOptions {
  std::vector<std::string> names;  // empty: all
};

Result<bool> Outdated(const OutdatedOptions& options, const Env& env) {
  ASSIGN_OR_RETURN(const fs::path project, ProjectHere());
  ASSIGN_OR_RETURN(const std::vector<LockedSkill> locked, LoadSkillLock(project));
  std::vector<std::string> known;
  known.reserve(locked.size());
  for (const LockedSkill& skill : locked) known.push_back(skill.name);
  for (const std::string& name : options.names) {
    if (!IsOneOf(name, known)) {
      return Error{ErrorKind::kNotFound,
                   fmt::format("no skill '{}' in {}{}", name, kSkillLockFile, DidYouMean(name, known))};
    }
  }
  GitRepositories repositories(GitLimitsOf(env));
  std::size_t newer = 0;
  std::size_t asked = 0;
  for (const LockedSkill& skill : locked) {
    if (!options.names.empty() && !IsOneOf(skill.name, options.names)) continue;
    ++asked;
    const Result<SkillToInstall> newest = SourceOf(skill, project, Wanted::kNewest, repositories);
    if (!newest && newest.error().kind == ErrorKind::kCancelled) return newest.error();
    const auto [what, differs] = newest ? CompareNewest(skill, *newest) : Newest{newest.error().message};
    if (differs) ++newer;
    if (!what.empty()) env.out(TerminalText::Format("{}: {}\n", skill.name, what));
  }
  if (newer == 0)
    env.out(TerminalText::Format("{} up to date\n", asked == 1 ? "1 skill is" : fmt::format("{} skills are", asked)));
  return newer == 0;
}

ExitCode ExitCodeOf(const Result<bool>& as_wanted, Env& env) {
  if (!as_wanted) return PrintError(env, as_wanted.error());
  return *as_wanted ? ExitCode::kSuccess : ExitCode::kFailed;
}

void AddVerifyCommand(CLI::App& app, VerifyOptions& options) {
  CLI::App* command = app.add_subcommand("verify", "Compare the project's installed skills with upskill.lock")
                          ->group("Skills for agents");
  command->add_flag("--allow-unlocked", options.allow_unlocked,
                    "Allow skills that aren't in the lock, such as the project's own");
  AddExamples(*command, {{"Check that the skills are those that the team has agreed on", "upskill verify"},
                         {"The same in a project with skills of its own", "upskill verify --allow-unlocked"}});
  AddHelpNote(*command, "Exit code 1: a skill was changed, is missing, isn't locked, or is there for another agent.");
}

// Exit code kFailed: something differs from the lock.
ExitCode RunVerify(const VerifyOptions& options, Env& env) { return ExitCodeOf(Verify(options, env), env); }

void AddOutdatedCommand(CLI::App& app, OutdatedOptions& options) {
  CLI::App* command =
      app.add_subcommand("outdated", "List locked skills whose source has a newer version")->group("Skills for agents");
  command->add_option("NAME", options.names, "Name of a skill in upskill.lock; without it, all");
  AddExamples(*command, {{"See what `upskill update` would change", "upskill outdated"},
                         {"Ask about one skill", "upskill outdated pdf-forms"}});
  AddHelpNote(*command, "Exit code 1: a source has other files than the lock, or can't be read. Nothing is changed.");
}

// Exit code kFailed: a source has other files, or can't be read.
ExitCode RunOutdated(const OutdatedOptions& options, Env& env) { return ExitCodeOf(Outdated(options, env), env); }

}  // namespace

Result<std::vector<SkillToInstall>> ReadLockedSkills(const std::vector<std::string>& agents, const Env& env) {
  ASSIGN_OR_RETURN(const fs::path project, ProjectHere());
  const Result<std::vector<LockedSkill>> locked = LoadSkillLock(project);
  if (locked) {
    const auto meant = [&](const LockedSkill& skill) {
      std::vector<std::string> ids = skill.agents;
      if (!agents.empty() && !MeansAllAgents(agents))
        std::erase_if(ids, [&](const std::string& id) { return !IsOneOf(id, agents); });
      return ids;
    };
    RETURN_IF_ERROR(AgentsNamed(agents, true));
    return RestoreAll(*locked, meant, project, env);
  }
  if (locked.error().kind != ErrorKind::kNotFound) return locked.error();
  const Result<std::vector<SkillsCliEntry>> entries = LoadSkillsCliLock(project);
  if (!entries) return entries.error().kind == ErrorKind::kNotFound ? locked.error() : entries.error();
  if (agents.empty()) {
    return InputError(
        fmt::format("{} doesn't say for which agents: name them with --agent ({})", kSkillsCliLockFile, AgentIds()));
  }
  RETURN_IF_ERROR(AgentsNamed(agents, false));
  return RestoreAll(*entries, [&](const SkillsCliEntry&) { return agents; }, project, env);
}

Command OutdatedCommand() { return CommandOf({"outdated"}, AddOutdatedCommand, RunOutdated); }

Command VerifyCommand() { return CommandOf({"verify"}, AddVerifyCommand, RunVerify); }

}  // namespace upskill
