// SPDX-License-Identifier: Apache-2.0
#include "install/skill_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "skill/skill.h"
#include "skill/skill_text.h"
#include "skill/skill_tree.h"
#include "skill/unicode_text.h"
#include "util/files.h"
#include "util/hash.h"
#include "util/known_secrets.h"
#include "util/text.h"
#include "util/yaml.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

// What programs leave in a skill's folder while it is used.
bool IsLeaving(const fs::path& name) {
  return std::any_of(name.begin(), name.end(),
                     [](const fs::path& part) { return part == "__pycache__" || part == ".DS_Store"; });
}

// A file's name in a message.
std::string Shown(const std::string& name) { return ExcerptLine(name, 200); }

// Every name and every folder in it, for names that a file system without upper and lower case can't tell apart.
Status CheckForClashes(const FileMap& files, const std::string& source) {
  struct Known {
    std::string name;
    bool is_folder;
  };
  std::map<std::string, Known> known;  // by the folded name
  for (const auto& [file, content] : files) {
    for (std::size_t end = file.find('/');; end = file.find('/', end + 1)) {
      const bool is_folder = end != std::string::npos;
      const std::string name = file.substr(0, end);
      const auto [entry, is_new] = known.try_emplace(FoldFileName(name), Known{name, is_folder});
      const Known& other = entry->second;
      if (!is_new && other.name != name) {
        return InputError(
            fmt::format("{}: '{}' and '{}' differ only in upper and lower case or in how accents are written, and "
                        "would be one file on some systems; rename one of them",
                        source, Shown(other.name), Shown(name)));
      }
      if (!is_new && (other.is_folder != is_folder || !is_folder))
        return InputError(fmt::format("{}: '{}' is there twice; remove one of them", source, Shown(name)));
      if (!is_folder) break;
    }
  }
  return {};
}

Status CheckFile(const std::string& name, const SkillFile& file, const std::string& source) {
  RETURN_IF_ERROR(ContainedPath(".", name).With(source));
  if (FindInvalidUtf8(name)) return InputError(fmt::format("{}: a file's name isn't UTF-8: '{}'", source, Shown(name)));
  if (PlainFileName(name) != name || name.find('\\') != std::string::npos) {
    return InputError(fmt::format("{}: '{}' isn't a plain file name; rename the file", source, Shown(name)));
  }
  if (HasKnownSecret(file.content) || HasKnownSecret(name)) {
    return InputError(
        fmt::format("{}: '{}' contains one of your keys or passwords; remove it from the file", source, name));
  }
  return {};
}

constexpr std::string_view kExecutable = " executable";

std::string HashOf(std::string_view content, bool executable) {
  return Sha256Hex(content) + std::string(executable ? kExecutable : "");
}

// Without whether the file may be executed.
std::string_view ContentHash(std::string_view hash) { return hash.substr(0, hash.find(' ')); }

std::string StatedVersion(const Skill& skill) {
  const Result<Json> fields = ParseYaml(skill.other_fields, "frontmatter");
  return fields ? ExcerptLine(StringAt(Member(*fields, "metadata"), "version"), 40) : "";
}

}  // namespace

bool IsLeftBehind(const std::string& name, EvaluationFiles evaluation) {
  const fs::path path = name;
  const bool in_git =
      std::any_of(path.begin(), path.end(), [](const fs::path& part) { return ToLowerAscii(part.string()) == ".git"; });
  if (in_git || IsLeaving(path)) return true;
  return evaluation == EvaluationFiles::kLeftOut && IsEvaluationFile(name);
}

Result<SkillFiles> CheckedSkill(FileMap files, const std::string& source, const std::string& folder_name) {
  std::size_t total = 0;
  for (const auto& [name, file] : files) {
    RETURN_IF_ERROR(CheckFile(name, file, source));
    total += file.content.size();
  }
  if (files.size() > kMaxSkillFiles || total > kMaxSkillBytesTotal) return SkillLimits().TooLarge(source);
  RETURN_IF_ERROR(CheckForClashes(files, source));
  const auto text = files.find("SKILL.md");
  if (text == files.end()) {
    if (files.contains("skill.md"))
      return InputError(fmt::format("{}: agents look for SKILL.md; rename skill.md", source));
    return Error{ErrorKind::kNotFound, fmt::format("{}: no SKILL.md in it; give a skill's folder or archive", source)};
  }
  ASSIGN_OR_RETURN(Skill parsed, ParseSkill(text->second.content, (fs::path(source) / "SKILL.md").string()));
  SkillFiles skill;
  skill.name = parsed.name.empty() ? folder_name : parsed.name;
  if (const std::string problem = SkillNameProblem(skill.name); !problem.empty())
    return InputError(fmt::format("{}: {}; correct it in the frontmatter", (fs::path(source) / "SKILL.md").string(),
                                  ExcerptLine(problem, 200)));
  skill.version = StatedVersion(parsed);
  skill.warnings = std::move(parsed.warnings);
  skill.files = std::move(files);
  return skill;
}

Result<SkillFiles> ReadSkillFolder(const fs::path& folder, EvaluationFiles evaluation) {
  std::error_code code;
  const fs::path root = fs::canonical(folder, code);
  if (code) return ErrnoError("reading", folder, code.value());
  const auto left_out = [&](const std::string& name) { return IsLeftBehind(name, evaluation); };
  ASSIGN_OR_RETURN(FileMap files, ReadSkillFiles(folder, left_out, OddEntries::kErrors, {}));
  return CheckedSkill(std::move(files), folder.string(), root.filename().string());
}

FileHashes HashesOf(const FileMap& files) {
  FileHashes hashes;
  for (const auto& [name, file] : files) hashes[name] = HashOf(file.content, file.executable);
  return hashes;
}

Result<FileHashes> HashesIn(const fs::path& folder) {
  const SkillListing listing = ListSkillFolder(folder, [](const std::string& name) { return IsLeaving(name); });
  RETURN_IF_ERROR(listing.status);
  FileHashes hashes;
  for (const auto& [name, type] : listing.entries) {
    std::string& hash = hashes[name];
    std::error_code code;
    if (type != fs::file_type::regular || fs::file_size(folder / name, code) > kMaxSkillFileBytes) continue;
    ASSIGN_OR_RETURN(const std::string content, ReadFile(folder / name, kMaxSkillFileBytes));
    const bool executable = (fs::status(folder / name, code).permissions() & fs::perms::owner_exec) != fs::perms::none;
    hash = HashOf(content, executable);
  }
  return hashes;
}

std::string TreeSha256(const FileHashes& files) {
  std::string lines;
  for (const auto& [name, hash] : files)
    lines += fmt::format("{} {} {}\n", hash.ends_with(kExecutable) ? 755 : 644, ContentHash(hash), name);
  return Sha256Hex(lines);
}

Result<std::vector<std::string>> DifferencesFrom(const FileHashes& expected, const fs::path& folder) {
  ASSIGN_OR_RETURN(const FileHashes found, HashesIn(folder));
  std::vector<std::string> differences;
  for (const auto& [name, hash] : found) {
    const auto known = expected.find(name);
    if (known == expected.end()) {
      differences.push_back(fmt::format("{} was added", name));
    } else if (hash.empty() || ContentHash(known->second) != ContentHash(hash)) {
      differences.push_back(fmt::format("{} was changed", name));
    }
  }
  for (const auto& [name, hash] : expected) {
    if (!found.contains(name)) differences.push_back(fmt::format("{} was removed", name));
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

}  // namespace upskill
