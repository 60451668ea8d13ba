// SPDX-License-Identifier: Apache-2.0
#include "install/skill_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <set>

#include "install/agents.h"
#include "skill/skill_text.h"
#include "util/files.h"
#include "util/json.h"
#include "util/list.h"
#include "util/stored_json.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr int kVersion = 1;
constexpr std::uint64_t kMaxLockBytes = std::uint64_t{8} << 20U;
constexpr std::chrono::seconds kProjectLockLimit{10};
constexpr std::size_t kSha256Digits = 64;

// Persisted: the keys keep their names.
Json LockedToJson(const LockedSkill& skill) {
  Json json = {{"name", skill.name}, {"source", skill.source}};
  if (!skill.git.url.empty()) {
    json["url"] = skill.git.url;
    if (!skill.git.ref.empty()) json["ref"] = skill.git.ref;
    json["path"] = skill.git.path;
    json["commit"] = skill.commit;
  }
  json["sha256"] = skill.sha256;
  if (skill.evaluation == EvaluationFiles::kIncluded) json["with_tests"] = true;
  json["agents"] = skill.agents;
  return json;
}

bool IsHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsCommit(std::string_view text) { return (text.size() == 40 || text.size() == 64) && IsHex(text); }

std::string TextOr(const StoredJson& stored, const char* key) { return stored.has(key) ? stored.at(key).text() : ""; }

LockedSkill LockedFromJson(const StoredJson& stored) {
  LockedSkill skill;
  skill.name = stored.at("name").text();
  skill.source = stored.at("source").text();
  skill.git = {TextOr(stored, "url"), TextOr(stored, "ref"), TextOr(stored, "path")};
  skill.commit = TextOr(stored, "commit");
  skill.sha256 = stored.at("sha256").text();
  const bool with_tests = stored.has("with_tests") && stored.at("with_tests").flag();
  skill.evaluation = with_tests ? EvaluationFiles::kIncluded : EvaluationFiles::kLeftOut;
  skill.agents = stored.at("agents").texts();
  return skill;
}

// JSON's readers disagree on which of two equal keys counts, and a reviewer may read the other one. The text is valid.
Status CheckNoRepeatedKey(std::string_view text, const std::string& file) {
  std::vector<std::set<std::string>> open;  // the keys of the objects around the place
  std::string repeated;
  const auto note = [&](int, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value.get<std::string>()).second)
      repeated = value.get<std::string>();
    return true;
  };
  const Json ignored = Json::parse(text, note);
  if (repeated.empty()) return {};
  return InputError(fmt::format("{}: the key '{}' is there twice in one object; remove one of them", file,
                                ExcerptLine(repeated, 100)));
}

Status CheckSource(const LockedSkill& skill) {
  if (skill.git.url.empty()) {
    const fs::path path = skill.source;
    if (path.empty() || path.is_absolute())
      return InputError("'source' must be a path from the project's root if there is no 'url'");
    return {};
  }
  // Written back, it must be the same: nothing hides in one part that is read as another.
  ASSIGN_OR_RETURN(const GitSource parsed, ParseGitSource(GitSourceText(skill.git)));
  if (parsed.url != skill.git.url || parsed.ref != skill.git.ref || parsed.path != skill.git.path)
    return InputError("'url', 'ref' and 'path' aren't a repository's URL, a branch or tag, and a folder in it");
  if (!IsCommit(skill.commit)) return InputError("'commit' must be the 40 or 64 hexadecimal digits of a commit");
  return {};
}

Status CheckEntry(const LockedSkill& skill) {
  if (const std::string problem = SkillNameProblem(skill.name); !problem.empty()) return InputError(problem);
  RETURN_IF_ERROR(CheckSource(skill));
  if (skill.sha256.size() != kSha256Digits || !IsHex(skill.sha256))
    return InputError("'sha256' must be 64 hexadecimal digits");
  if (skill.agents.empty()) return InputError("'agents' must name an agent");
  for (const std::string& agent : skill.agents) RETURN_IF_ERROR(FindAgent(agent));
  return {};
}

// A path as a team can share it: from the project's root.
std::string FromProject(const fs::path& path, const fs::path& project) {
  return path.lexically_relative(project).generic_string();
}

}  // namespace

Status CheckNoConflict(std::string_view text, const std::string& file) {
  std::size_t number = 0;
  for (const std::string_view line : SplitLines(text)) {
    ++number;
    const bool is_mark = line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>") || line == "=======";
    if (!is_mark) continue;
    return InputError(
        fmt::format("{}:{}: a merge conflict isn't resolved: choose between the two sides, remove the lines with {}, "
                    "then run `upskill verify`",
                    file, number, line.substr(0, 7)));
  }
  return {};
}

Result<std::vector<LockedSkill>> ParseSkillLock(std::string_view text, const std::string& file) {
  RETURN_IF_ERROR(CheckNoConflict(text, file));
  ASSIGN_OR_RETURN(const Json json, ParseJson(text, file));
  RETURN_IF_ERROR(CheckNoRepeatedKey(text, file));
  try {
    const StoredJson stored(json);
    const int version = stored.at("version").number<int>();
    if (version != kVersion) {
      return InputError(fmt::format("{}: version {} of the format, and this upskill reads version {}; {}", file,
                                    version, kVersion,
                                    version > kVersion ? "install a newer upskill" : "restore the file from git"));
    }
    std::vector<LockedSkill> skills;
    std::set<std::string> names;
    for (const StoredJson& element : stored.at("skills").elements()) {
      LockedSkill skill = LockedFromJson(element);
      const std::string shown = ExcerptLine(skill.name, 100);
      RETURN_IF_ERROR(CheckEntry(skill).With(fmt::format("{}: '{}'", file, shown)));
      if (!names.insert(skill.name).second)
        return InputError(fmt::format("{}: '{}' is there twice; remove one of the entries", file, shown));
      skills.push_back(std::move(skill));
    }
    return skills;
  } catch (const StoredJsonFault& fault) {
    return NotAsWritten(file, fault, "remove it, and install the skills again");
  }
}

std::string SkillLockText(std::vector<LockedSkill> skills) {
  std::sort(skills.begin(), skills.end(), [](const LockedSkill& a, const LockedSkill& b) { return a.name < b.name; });
  Json list = Json::array();
  for (const LockedSkill& skill : skills) list.push_back(LockedToJson(skill));
  return DumpJsonIndented({{"version", kVersion}, {"skills", list}}) + "\n";
}

Result<std::vector<LockedSkill>> LoadSkillLock(const fs::path& project) {
  const fs::path file = project / kSkillLockFile;
  const Result<std::string> text = ReadFile(file, kMaxLockBytes);
  if (!text && text.error().kind == ErrorKind::kNotFound) {
    return Error{ErrorKind::kNotFound,
                 fmt::format("there is no {} in {}; `upskill install SKILL --agent NAME` writes it", kSkillLockFile,
                             project.string())};
  }
  if (!text) return text.error();
  return ParseSkillLock(*text, file.string());
}

std::vector<fs::path> FoldersOf(const LockedSkill& skill, const fs::path& project) {
  std::vector<fs::path> folders;
  for (const Agent& agent : KnownAgents()) {
    fs::path folder = project / agent.project_folders.front() / skill.name;
    if (IsOneOf(agent.id, skill.agents) && !IsOneOf(folder, folders)) folders.push_back(std::move(folder));
  }
  return folders;
}

Result<SkillLock> SkillLock::Open(const fs::path& project) {
  ASSIGN_OR_RETURN(Folder folder, Folder::Open(project));
  RETURN_IF_ERROR(folder.Lock(kProjectLockLimit));
  Result<std::vector<LockedSkill>> skills = LoadSkillLock(project);
  if (!skills && skills.error().kind != ErrorKind::kNotFound) return skills.error();
  return SkillLock(std::move(folder), skills ? *std::move(skills) : std::vector<LockedSkill>());
}

const LockedSkill* SkillLock::Find(const std::string& name) const {
  const auto found =
      std::find_if(skills_.begin(), skills_.end(), [&](const LockedSkill& skill) { return skill.name == name; });
  return found == skills_.end() ? nullptr : &*found;
}

Status SkillLock::CheckCovered(const std::vector<InstalledSkill>& skills) const {
  const LockedSkill* const locked = skills.empty() ? nullptr : Find(skills.front().name);
  if (locked == nullptr || locked->sha256 == TreeSha256(skills.front().files)) return {};
  for (const fs::path& folder : FoldersOf(*locked, project_.path())) {
    const bool is_replaced =
        std::any_of(skills.begin(), skills.end(), [&](const InstalledSkill& skill) { return skill.folder == folder; });
    if (is_replaced) continue;
    return InputError(
        fmt::format("the lock has one version of {} for all its copies: replace the one in {}, too (--agent), or "
                    "uninstall it there",
                    locked->name, FromProject(folder, project_.path())));
  }
  return {};
}

Result<bool> SkillLock::Put(const InstalledSkill& skill, const std::string& source, const Work& install) {
  const InstallTarget target{{skill.project, skill.folder.parent_path()}, skill.agents};
  if (skill.mode == InstallMode::kLink) return Remove(skill.name, target, true, install);
  std::vector<LockedSkill> before = skills_;
  auto entry = std::find_if(skills_.begin(), skills_.end(),
                            [&](const LockedSkill& locked) { return locked.name == skill.name; });
  if (entry == skills_.end()) entry = skills_.insert(entry, LockedSkill{skill.name, "", {}, "", "", {}, {}});
  if (!skill.commit.empty()) {
    ASSIGN_OR_RETURN(entry->git, ParseGitSource(skill.source.string()));
    if (!source.empty() || entry->source.empty()) entry->source = source.empty() ? skill.source.string() : source;
  } else {
    entry->git = {};
    entry->source = FromProject(skill.source, project_.path());
  }
  entry->commit = skill.commit;
  entry->sha256 = TreeSha256(skill.files);
  entry->evaluation = skill.evaluation;
  std::set<std::string> agents(entry->agents.begin(), entry->agents.end());
  agents.insert(skill.agents.begin(), skill.agents.end());
  entry->agents.assign(agents.begin(), agents.end());
  return Save(std::move(before), install);
}

Result<bool> SkillLock::Remove(const std::string& name, const InstallTarget& target, bool whole_folder,
                               const Work& work) {
  std::vector<LockedSkill> before = skills_;
  for (LockedSkill& skill : skills_) {
    if (skill.name != name) continue;
    std::erase_if(skill.agents, [&](const std::string& id) {
      const bool shares =
          (*FindAgent(id))->project_folders.front() == FromProject(target.place.folder, project_.path());
      return IsOneOf(id, target.agents) || (whole_folder && shares);
    });
  }
  std::erase_if(skills_, [](const LockedSkill& skill) { return skill.agents.empty(); });
  return Save(std::move(before), work);
}

Status SkillLock::Write() const {
  return skills_.empty() ? project_.RemoveFile(kSkillLockFile)
                         : project_.WriteFile(kSkillLockFile, SkillLockText(skills_));
}

Result<bool> SkillLock::Save(std::vector<LockedSkill> before, const Work& work) {
  const bool changed = SkillLockText(skills_) != SkillLockText(before);
  Status done = changed ? Write() : Status();
  const bool written = done.ok();
  if (written) done = work();
  if (done) return changed;
  skills_ = std::move(before);
  if (changed && written) RETURN_IF_ERROR(Write());
  return done.error();
}

}  // namespace upskill
