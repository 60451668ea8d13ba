// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "install/git_source.h"
#include "install/install_records.h"
#include "install/skill_files.h"
#include "install/skills_folder.h"
#include "util/folder.h"
#include "util/result.h"

namespace upskill {

inline constexpr const char* kSkillLockFile = "upskill.lock";

// A skill as upskill.lock in a project's root pins it.
struct LockedSkill {
  std::string name;
  std::string source;  // as it was given; of a folder or an archive its path from the project's root
  GitSource git;       // what `source` means; without a URL: a folder or an archive
  std::string commit;  // 40 or 64 hexadecimal digits; empty: the source isn't a repository
  std::string sha256;  // TreeSha256 of what is installed
  EvaluationFiles evaluation = EvaluationFiles::kLeftOut;
  std::vector<std::string> agents;  // Agent::id, sorted, not empty
};

// Reads the text of a lock, which may come from anybody; `file` names it in messages. Errors: merge-conflict markers, a
// newer version, a name or source that can't be, a commit or hash of another form, no or unknown agents, two entries
// with one name, a key twice in an object.
Result<std::vector<LockedSkill>> ParseSkillLock(std::string_view text, const std::string& file);

// Sorted by name. No key of it depends on the machine or the time.
std::string SkillLockText(std::vector<LockedSkill> skills);

// Why a lock's text, of upskill or another program, can't be used: the line of a merge-conflict marker. Else ok.
Status CheckNoConflict(std::string_view text, const std::string& file);

// The lock of a project. Error (kNotFound): there is none.
Result<std::vector<LockedSkill>> LoadSkillLock(const std::filesystem::path& project);

// The folders of the project where the skill is locked to be.
std::vector<std::filesystem::path> FoldersOf(const LockedSkill& skill, const std::filesystem::path& project);

// The lock for changing it. Holds the lock of the project's folder until it is destroyed. Move-only, not thread-safe.
class SkillLock {
 public:
  // Without a file, it is empty. Errors: those of LoadSkillLock; another process keeps the folder's lock.
  static Result<SkillLock> Open(const std::filesystem::path& project);

  const LockedSkill* Find(const std::string& name) const;  // null: it isn't locked

  // Whether these installations, all of one skill, may be locked: one entry stands for all copies of a skill, so a new
  // version has to replace each of them. Error: it wouldn't replace the copy in a folder, whose agents are named.
  Status CheckCovered(const std::vector<InstalledSkill>& skills) const;

  // What Put and Remove lock. If it fails, the lock is written as it was before.
  using Work = std::function<Status()>;

  // Locks a copy, and has it installed; a link has nothing to be locked, and loses its entry. `source`: as it was
  // given; empty: as it is locked. Put and Remove write the file before they do the work, so that a file that can't be
  // written changes nothing; without entries, there is none. They return whether it was changed.
  Result<bool> Put(const InstalledSkill& skill, const std::string& source, const Work& install);

  // Removes the agents of the target from the skill's entry, and with `whole_folder` all that share its folder.
  Result<bool> Remove(const std::string& name, const InstallTarget& target, bool whole_folder, const Work& work);

 private:
  SkillLock(Folder project, std::vector<LockedSkill> skills)
      : project_(std::move(project)), skills_(std::move(skills)) {}

  Result<bool> Save(std::vector<LockedSkill> before, const Work& work);
  Status Write() const;

  Folder project_;
  std::vector<LockedSkill> skills_;
};

}  // namespace upskill
