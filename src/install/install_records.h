// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "install/skill_files.h"
#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// How a skill reaches an agent's folder.
enum class InstallMode { kCopy, kLink };

// What is remembered about an installed skill. All paths but a git source are absolute.
struct InstalledSkill {
  std::string name;
  std::filesystem::path folder;   // what the agent finds: a folder, or a link to `source`
  std::filesystem::path project;  // the folder that must contain it; empty: one of the user's own folders
  std::filesystem::path source;   // the folder or archive that it comes from, or a git source (GitSourceText)
  std::string commit;             // that was fetched from a git source; empty: the source isn't one
  InstallMode mode = InstallMode::kCopy;
  EvaluationFiles evaluation = EvaluationFiles::kLeftOut;
  std::string version;              // as SkillFiles::version
  std::vector<std::string> agents;  // Agent::id of those it was installed for
  FileHashes files;                 // of a copy, as installed
  FileHashes replaced;              // those that the folder had before, while it is being replaced; else empty
  std::filesystem::path made;       // the first folder above it that was made for it; empty: all were there
};

// The skills that were installed, from installed.json in the user's configuration folder. Without the file, none.
// Errors: it can't be read, or isn't as upskill wrote it.
Result<std::vector<InstalledSkill>> LoadInstalledSkills(const std::filesystem::path& config_folder);

// The same from the file's text; `file` names it in messages.
Result<std::vector<InstalledSkill>> ParseInstalledSkills(std::string_view text, const std::string& file);
std::string InstalledSkillsText(const std::vector<InstalledSkill>& skills);

// The same for changing them. Holds the lock of the configuration folder until it is destroyed, so that no other
// process installs at the same time. Move-only, not thread-safe.
class InstallRecords {
 public:
  // Makes the folder if it is missing; waits for another process for ten seconds. Errors: those of
  // LoadInstalledSkills; another process keeps the lock; the folder can't be made.
  static Result<InstallRecords> Open(const std::filesystem::path& config_folder);

  const std::vector<InstalledSkill>& skills() const { return skills_; }
  // By InstalledSkill::folder; null: it wasn't installed.
  const InstalledSkill* Find(const std::filesystem::path& folder) const;

  // Put and Remove write the file before they return. A skill replaces the one in the same folder.
  Status Put(InstalledSkill skill);
  Status Remove(const std::filesystem::path& folder);

 private:
  InstallRecords(Folder folder, std::vector<InstalledSkill> skills)
      : folder_(std::move(folder)), skills_(std::move(skills)) {}

  Status Save() const;

  Folder folder_;
  std::vector<InstalledSkill> skills_;
};

}  // namespace upskill
