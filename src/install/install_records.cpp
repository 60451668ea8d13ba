// SPDX-License-Identifier: Apache-2.0
#include "install/install_records.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "util/files.h"
#include "util/json.h"
#include "util/stored_json.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFileName = "installed.json";
constexpr int kSchema = 1;
constexpr std::chrono::seconds kLockLimit{10};

Json HashesToJson(const FileHashes& files) {
  Json json = Json::object();
  for (const auto& [name, hash] : files) json[name] = hash;
  return json;
}

FileHashes HashesFromJson(const StoredJson& stored) {
  FileHashes files;
  for (const auto& [name, hash] : stored.json().items()) files[name] = stored.at(name.c_str()).text();
  return files;
}

// Persisted: the keys keep their names.
Json ToJson(const InstalledSkill& skill) {
  Json json = {{"name", skill.name},
               {"folder", skill.folder.string()},
               {"project", skill.project.string()},
               {"source", skill.source.string()},
               {"linked", skill.mode == InstallMode::kLink},
               {"with_tests", skill.evaluation == EvaluationFiles::kIncluded},
               {"version", skill.version},
               {"agents", skill.agents},
               {"made", skill.made.string()},
               {"sha256", HashesToJson(skill.files)},
               {"replaced_sha256", HashesToJson(skill.replaced)}};
  if (!skill.commit.empty()) json["commit"] = skill.commit;
  return json;
}

InstalledSkill FromJson(const StoredJson& stored) {
  InstalledSkill skill;
  skill.name = stored.at("name").text();
  skill.folder = stored.at("folder").text();
  skill.project = stored.at("project").text();
  skill.source = stored.at("source").text();
  skill.mode = stored.at("linked").flag() ? InstallMode::kLink : InstallMode::kCopy;
  skill.evaluation = stored.at("with_tests").flag() ? EvaluationFiles::kIncluded : EvaluationFiles::kLeftOut;
  skill.version = stored.at("version").text();
  skill.agents = stored.at("agents").texts();
  skill.made = stored.at("made").text();
  skill.files = HashesFromJson(stored.at("sha256"));
  skill.replaced = HashesFromJson(stored.at("replaced_sha256"));
  if (stored.has("commit")) skill.commit = stored.at("commit").text();
  return skill;
}

}  // namespace

Result<std::vector<InstalledSkill>> ParseInstalledSkills(std::string_view text, const std::string& file) {
  Result<Json> parsed = ParseJson(text, file);
  if (!parsed)
    return InputError(parsed.error().message + "; restore it, or move it away, and upskill forgets what it installed");
  const Json json = *std::move(parsed);
  try {
    const StoredJson stored(json);
    if (stored.at("schema").number<int>() != kSchema) {
      return InputError(file +
                        ": written by another version of upskill; use that version, or move the file "
                        "away, and upskill forgets what it installed");
    }
    std::vector<InstalledSkill> skills;
    for (const StoredJson& skill : stored.at("skills").elements()) skills.push_back(FromJson(skill));
    return skills;
  } catch (const StoredJsonFault& fault) {
    return NotAsWritten(file, fault, "move it away, and upskill forgets what it installed");
  }
}

std::string InstalledSkillsText(const std::vector<InstalledSkill>& skills) {
  Json list = Json::array();
  for (const InstalledSkill& skill : skills) list.push_back(ToJson(skill));
  return DumpJsonIndented({{"schema", kSchema}, {"skills", list}}) + "\n";
}

Result<std::vector<InstalledSkill>> LoadInstalledSkills(const fs::path& config_folder) {
  const fs::path file = config_folder / kFileName;
  const Result<std::string> text = ReadFile(file);
  if (!text && text.error().kind == ErrorKind::kNotFound) return std::vector<InstalledSkill>();
  if (!text) return text.error();
  return ParseInstalledSkills(*text, file.string());
}

Result<InstallRecords> InstallRecords::Open(const fs::path& config_folder) {
  ASSIGN_OR_RETURN(Folder folder, Folder::Make(config_folder));
  RETURN_IF_ERROR(folder.Lock(kLockLimit));
  ASSIGN_OR_RETURN(std::vector<InstalledSkill> skills, LoadInstalledSkills(config_folder));
  return InstallRecords(std::move(folder), std::move(skills));
}

const InstalledSkill* InstallRecords::Find(const fs::path& folder) const {
  const auto found =
      std::find_if(skills_.begin(), skills_.end(), [&](const InstalledSkill& skill) { return skill.folder == folder; });
  return found == skills_.end() ? nullptr : &*found;
}

Status InstallRecords::Put(InstalledSkill skill) {
  const auto found = std::find_if(skills_.begin(), skills_.end(),
                                  [&](const InstalledSkill& known) { return known.folder == skill.folder; });
  if (found == skills_.end()) {
    skills_.push_back(std::move(skill));
  } else {
    *found = std::move(skill);
  }
  return Save();
}

Status InstallRecords::Remove(const fs::path& folder) {
  std::erase_if(skills_, [&](const InstalledSkill& skill) { return skill.folder == folder; });
  return Save();
}

Status InstallRecords::Save() const {
  if (skills_.empty()) return folder_.RemoveFile(kFileName);
  return folder_.WriteFile(kFileName, InstalledSkillsText(skills_));
}

}  // namespace upskill
