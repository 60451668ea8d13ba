// SPDX-License-Identifier: Apache-2.0
#include "install/install.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "install/placement.h"
#include "install/skill_archive.h"
#include "skill/skill_text.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

const InstalledSkill* KnownAt(const std::vector<InstalledSkill>& installed, const fs::path& folder) {
  const auto found = std::find_if(installed.begin(), installed.end(),
                                  [&](const InstalledSkill& skill) { return skill.folder == folder; });
  return found == installed.end() ? nullptr : &*found;
}

bool IsInside(const fs::path& inner, const fs::path& outer) {
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// Nothing is copied into itself, and no source is replaced by its copy.
Status CheckApart(const fs::path& source, const fs::path& folder) {
  std::error_code code;
  const fs::path from = fs::weakly_canonical(source, code);
  // What is there now may be a link to the source.
  const fs::path parent = fs::weakly_canonical(folder.parent_path(), code);
  const fs::path to = parent / folder.filename();
  if (from == to) {
    return InputError(
        fmt::format("{} is the folder that it would be installed in; nothing has to be done", source.string()));
  }
  if (IsInside(to, from) || IsInside(from, to)) {
    return InputError(fmt::format("{} can't be installed in {}: one is inside the other; move the skill elsewhere",
                                  source.string(), folder.string()));
  }
  return {};
}

Status CheckReplaceable(const fs::path& folder, const PlaceState& state, Force force) {
  if (force == Force::kYes) return {};
  if (state.presence == Presence::kForeign) {
    return InputError(fmt::format(
        "{} exists, and wasn't installed by upskill; move it away, or replace it with --force", folder.string()));
  }
  if (state.presence == Presence::kChanged) {
    return InputError(
        fmt::format("{} was changed since it was installed ({}); keep your version, or replace it with "
                    "--force",
                    folder.string(), DifferencesText(state.differences)));
  }
  return {};
}

// Whether the skill's files are there already: from the project's repository, or from another program.
bool HasSameFiles(const fs::path& folder, const SkillFiles& skill) {
  std::error_code code;
  if (!fs::is_directory(fs::symlink_status(folder, code))) return false;
  const Result<FileHashes> found = HashesIn(folder);
  return found && *found == HashesOf(skill.files);
}

// The first of the folders down to `folder` that isn't there; empty: all are.
fs::path FirstMissing(const fs::path& folder) {
  fs::path missing;
  std::error_code code;
  for (fs::path at = folder; at.has_relative_path() && !fs::exists(fs::symlink_status(at, code)); at = at.parent_path())
    missing = at;
  return missing;
}

// Whether skills can be put into the folder, which may have to be made.
Status CheckWritable(const SkillsFolder& place) {
  const fs::path missing = FirstMissing(place.folder);
  const fs::path there = missing.empty() ? place.folder : missing.parent_path();
  ASSIGN_OR_RETURN(const Folder folder,
                   there == place.project ? Folder::Open(there) : OpenSkillsFolder({place.project, there}));
  if (::faccessat(folder.fd().get(), ".", W_OK, 0) == 0) return {};
  return ErrnoError("writing into", there, errno);
}

void AddAgents(std::vector<std::string>& agents, const std::vector<std::string>& more) {
  for (const std::string& agent : more) {
    if (std::find(agents.begin(), agents.end(), agent) == agents.end()) agents.push_back(agent);
  }
}

bool IsSame(const InstalledSkill& a, const InstalledSkill& b) {
  return a.mode == b.mode && a.files == b.files && (a.mode == InstallMode::kCopy || a.source == b.source);
}

SkillsFolder PlaceOf(const InstalledSkill& skill) { return {skill.project, skill.folder.parent_path()}; }

Status Place(const InstallPlan& plan, const SkillFiles& files) {
  const InstalledSkill& skill = plan.skill;
  ASSIGN_OR_RETURN(const Folder skills, MakeSkillsFolder(PlaceOf(skill)));
  const Replace replace = plan.step == InstallPlan::Step::kReplace ? Replace::kYes : Replace::kNo;
  return skill.mode == InstallMode::kLink ? PlaceLink(skills, skill.name, skill.source, replace)
                                          : PlaceCopy(skills, skill.name, files.files, replace);
}

// Removes the folders that were made for a skill, if they are empty. Otherwise another skill in them remembers it.
Status RemoveMadeFolders(const InstalledSkill& removed, InstallRecords& records) {
  if (removed.made.empty()) return {};
  for (fs::path at = removed.folder.parent_path(); IsInside(at, removed.made); at = at.parent_path()) {
    std::error_code code;
    if (!fs::is_directory(fs::symlink_status(at, code)) || fs::remove(at, code)) continue;
    for (const InstalledSkill& other : records.skills()) {
      if (!other.made.empty() || !IsInside(other.folder, at)) continue;
      InstalledSkill heir = other;
      heir.made = removed.made;
      return records.Put(std::move(heir));
    }
    return {};
  }
  return {};
}

}  // namespace

std::string DifferencesText(const std::vector<std::string>& differences) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string> shown;
  for (std::size_t i = 0; i < std::min(kShown, differences.size()); ++i)
    shown.push_back(ExcerptLine(differences[i], 100));
  const std::string text = fmt::format("{}", fmt::join(shown, ", "));
  return differences.size() > kShown ? fmt::format("{} and {} more", text, differences.size() - kShown) : text;
}

Result<PlaceState> StateOf(const fs::path& folder, const InstalledSkill* known) {
  std::error_code code;
  const fs::file_status status = fs::symlink_status(folder, code);
  if (!fs::exists(status)) return PlaceState{};
  if (known == nullptr) return PlaceState{Presence::kForeign, {}};
  if (fs::is_symlink(status)) {
    if (fs::read_symlink(folder, code) == known->source) return PlaceState{Presence::kUnchanged, {}};
    return PlaceState{Presence::kChanged, {"it is another link"}};
  }
  if (!fs::is_directory(status)) return PlaceState{Presence::kChanged, {"it is no longer a folder"}};
  if (!known->replaced.empty()) {
    ASSIGN_OR_RETURN(const std::vector<std::string> from_old, DifferencesFrom(known->replaced, folder));
    if (from_old.empty()) return PlaceState{Presence::kUnchanged, {}};
  }
  if (known->mode == InstallMode::kLink) return PlaceState{Presence::kChanged, {"it is no longer a link"}};
  ASSIGN_OR_RETURN(std::vector<std::string> differences, DifferencesFrom(known->files, folder));
  const Presence presence = differences.empty() ? Presence::kUnchanged : Presence::kChanged;
  return PlaceState{presence, std::move(differences)};
}

Result<InstallPlan> PlanInstall(const SkillFiles& skill, const InstallSource& source, const InstallTarget& target,
                                const std::vector<InstalledSkill>& installed, Force force) {
  const bool is_git = !source.commit.empty();
  if (source.mode == InstallMode::kLink && IsSkillArchive(source.path)) {
    std::error_code code;
    if (!fs::is_directory(source.path, code))
      return InputError(
          fmt::format("{} is an archive, which can't be linked to; leave out --link", source.path.string()));
  }
  const fs::path folder = target.place.folder / skill.name;
  if (!is_git) RETURN_IF_ERROR(CheckApart(source.path, folder));
  const InstalledSkill* const known = KnownAt(installed, folder);
  ASSIGN_OR_RETURN(const PlaceState state, StateOf(folder, known));
  if (!HasSameFiles(folder, skill)) RETURN_IF_ERROR(CheckReplaceable(folder, state, force));

  InstallPlan plan;
  InstalledSkill& result = plan.skill;
  result.name = skill.name;
  result.folder = folder;
  result.project = target.place.project;
  result.source = source.path;
  result.commit = source.commit;
  result.mode = source.mode;
  result.evaluation = source.evaluation;
  result.version = skill.version;
  if (source.mode == InstallMode::kCopy) result.files = HashesOf(skill.files);
  result.made = FirstMissing(target.place.folder);
  if (known != nullptr) {
    result.agents = known->agents;
    if (result.made.empty()) result.made = known->made;
  }
  AddAgents(result.agents, target.agents);
  if (state.presence != Presence::kAbsent) plan.step = InstallPlan::Step::kReplace;
  if (state.presence == Presence::kUnchanged) {
    result.replaced = known->files;
    const bool is_there = source.mode == InstallMode::kLink || HasSameFiles(folder, skill);  // and as executable
    if (known->replaced.empty() && is_there && IsSame(*known, result)) plan.step = InstallPlan::Step::kNothing;
  }
  if (plan.step != InstallPlan::Step::kNothing) RETURN_IF_ERROR(CheckWritable(target.place));
  return plan;
}

Status CarryOut(const InstallPlan& plan, const SkillFiles& skill, InstallRecords& records) {
  InstalledSkill done = plan.skill;
  done.replaced.clear();
  if (plan.step == InstallPlan::Step::kNothing) return records.Put(std::move(done));
  const InstalledSkill* const known = records.Find(plan.skill.folder);
  const InstalledSkill before = known == nullptr ? InstalledSkill() : *known;
  const bool was_known = known != nullptr;
  // Written before the folder is replaced: whatever a crash leaves there is then known as ours.
  RETURN_IF_ERROR(records.Put(plan.skill));
  if (Status placed = Place(plan, skill); !placed) {
    RETURN_IF_ERROR(was_known ? records.Put(before) : records.Remove(plan.skill.folder));
    return placed;
  }
  return records.Put(std::move(done));
}

Result<RemovalPlan> PlanRemoval(const std::string& name, const InstallTarget& target,
                                const std::vector<InstalledSkill>& installed, Force force) {
  if (const std::string problem = SkillNameProblem(name); !problem.empty()) return InputError(problem);
  const fs::path folder = target.place.folder / name;
  const InstalledSkill* const known = KnownAt(installed, folder);
  ASSIGN_OR_RETURN(const PlaceState state, StateOf(folder, known));
  RemovalPlan plan;
  plan.place = target.place;
  if (known == nullptr) {
    if (state.presence == Presence::kAbsent)
      return Error{ErrorKind::kNotFound,
                   fmt::format("there is no skill '{}' in {}", name, target.place.folder.string())};
    if (force == Force::kNo) {
      return InputError(
          fmt::format("{} wasn't installed by upskill; --force removes it with all that is in it", folder.string()));
    }
    plan.skill.name = name;
    plan.skill.folder = folder;
    return plan;
  }
  plan.skill = *known;
  std::erase_if(plan.skill.agents, [&](const std::string& agent) {
    return std::find(target.agents.begin(), target.agents.end(), agent) != target.agents.end();
  });
  if (plan.skill.agents.size() == known->agents.size()) {
    return InputError(fmt::format("{} was installed for {}, not for {}; name those with --agent", folder.string(),
                                  fmt::join(known->agents, ", "), fmt::join(target.agents, ", ")));
  }
  if (!plan.skill.agents.empty()) {
    plan.step = RemovalPlan::Step::kKeepForOthers;
  } else if (state.presence == Presence::kAbsent) {
    plan.step = RemovalPlan::Step::kForget;
  } else if (state.presence == Presence::kChanged && force == Force::kNo) {
    return InputError(fmt::format("{} was changed since it was installed ({}); --force removes it with your changes",
                                  folder.string(), DifferencesText(state.differences)));
  }
  return plan;
}

Status CarryOut(const RemovalPlan& plan, InstallRecords& records) {
  if (plan.step == RemovalPlan::Step::kKeepForOthers) return records.Put(plan.skill);
  if (plan.step == RemovalPlan::Step::kRemove) {
    ASSIGN_OR_RETURN(const Folder skills, OpenSkillsFolder(plan.place));
    RETURN_IF_ERROR(RemovePlaced(skills, plan.skill.name));
  }
  RETURN_IF_ERROR(records.Remove(plan.skill.folder));
  return RemoveMadeFolders(plan.skill, records);
}

}  // namespace upskill
