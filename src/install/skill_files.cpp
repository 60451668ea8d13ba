// SPDX-License-Identifier: Apache-2.0
#include "install/skill_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
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
constexpr std::array<std::string_view, 2> kLeavings = {"__pycache__", ".DS_Store"};
constexpr std::size_t kMaxVisited = 20 * kMaxSkillFiles;
constexpr std::size_t kMaxDepth = 32;

template <typename Names>
bool Has(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsLeaving(const fs::path& name) {
  return std::any_of(name.begin(), name.end(), [](const fs::path& part) { return Has(kLeavings, part.string()); });
}

using Use = std::function<Status(const fs::directory_entry&, const std::string& name)>;

// Calls `use` for everything below a folder that isn't a folder itself, and that `skip` doesn't leave out by its name.
Status Walk(const fs::path& folder, const std::function<bool(const std::string&)>& skip, const Use& use) {
  std::error_code code;
  std::size_t visited = 0;
  fs::recursive_directory_iterator entry(folder, code);
  for (const fs::recursive_directory_iterator end; !code && entry != end; entry.increment(code)) {
    const std::string name = entry->path().lexically_relative(folder).generic_string();
    std::error_code ignored;
    const bool is_folder = fs::is_directory(entry->symlink_status(ignored));
    if (++visited > kMaxVisited || entry.depth() > static_cast<int>(kMaxDepth)) {
      return InputError(
          fmt::format("{}: more than {} files, or folders deeper than {}; give a folder that holds "
                      "one skill",
                      folder.string(), kMaxVisited, kMaxDepth));
    }
    if (skip(name)) {
      if (is_folder) entry.disable_recursion_pending();
    } else if (!is_folder) {
      RETURN_IF_ERROR(use(*entry, name));
    }
  }
  if (code) return ErrnoError("reading", folder, code.value());
  return {};
}

// The file that a link in the skill leads to, if it is a file of the same skill.
Result<fs::path> TargetInside(const fs::path& root, const fs::path& link) {
  std::error_code code;
  const fs::path target = fs::canonical(link, code);
  if (code) {
    return InputError(fmt::format("{} is a symbolic link that leads to nothing; remove it", link.string()));
  }
  const auto [end, inside] = std::mismatch(root.begin(), root.end(), target.begin(), target.end());
  if (end != root.end()) {
    return InputError(
        fmt::format("{} is a symbolic link to {}, which is outside the skill; put a copy of the file "
                    "there instead",
                    link.string(), target.string()));
  }
  if (!fs::is_regular_file(target, code)) {
    return InputError(
        fmt::format("{} is a symbolic link to what isn't a file; put the files there instead", link.string()));
  }
  return target;
}

// A file's name in a message.
std::string Shown(const std::string& name) { return ExcerptLine(name, 200); }

Error TooLarge(const std::string& source) {
  return InputError(
      fmt::format("{}: a skill may have {} files of at most {} each, {} together; leave out what isn't "
                  "part of it",
                  source, WithThousands(static_cast<long long>(kMaxSkillFiles)), BytesText(kMaxSkillFileBytes),
                  BytesText(kMaxSkillBytesTotal)));
}

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
  if (files.size() > kMaxSkillFiles || total > kMaxSkillBytesTotal) return TooLarge(source);
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
  FileMap files;
  std::size_t total = 0;
  const Use add = [&](const fs::directory_entry& entry, const std::string& name) -> Status {
    std::error_code ignored;
    fs::path file = entry.path();
    if (entry.is_symlink(ignored)) {
      ASSIGN_OR_RETURN(file, TargetInside(root, file));
    } else if (!entry.is_regular_file(ignored)) {
      return InputError(fmt::format("{} is neither a file nor a folder; remove it", file.string()));
    }
    if (files.size() == kMaxSkillFiles || fs::file_size(file, ignored) > kMaxSkillFileBytes)
      return TooLarge(folder.string());
    ASSIGN_OR_RETURN(std::string content, ReadFile(file, kMaxSkillFileBytes));
    total += content.size();
    if (total > kMaxSkillBytesTotal) return TooLarge(folder.string());
    const bool executable = (fs::status(file, ignored).permissions() & fs::perms::owner_exec) != fs::perms::none;
    files[name] = {std::move(content), executable};
    return {};
  };
  RETURN_IF_ERROR(Walk(folder, [&](const std::string& name) { return IsLeftBehind(name, evaluation); }, add));
  return CheckedSkill(std::move(files), folder.string(), root.filename().string());
}

FileHashes HashesOf(const FileMap& files) {
  FileHashes hashes;
  for (const auto& [name, file] : files)
    hashes[name] = Sha256Hex(file.content) + (file.executable ? " executable" : "");
  return hashes;
}

Result<std::vector<std::string>> DifferencesFrom(const FileHashes& expected, const fs::path& folder) {
  std::vector<std::string> differences;
  std::map<std::string, bool> seen;
  const Use compare = [&](const fs::directory_entry& entry, const std::string& name) -> Status {
    const auto known = expected.find(name);
    std::error_code ignored;
    if (known == expected.end()) {
      differences.push_back(fmt::format("{} was added", name));
      return {};
    }
    seen[name] = true;
    const bool readable =
        !entry.is_symlink(ignored) && entry.is_regular_file(ignored) && entry.file_size(ignored) <= kMaxSkillFileBytes;
    if (readable) {
      ASSIGN_OR_RETURN(const std::string content, ReadFile(entry.path(), kMaxSkillFileBytes));
      if (known->second.starts_with(Sha256Hex(content))) return {};
    }
    differences.push_back(fmt::format("{} was changed", name));
    return {};
  };
  RETURN_IF_ERROR(Walk(folder, [](const std::string& name) { return IsLeaving(name); }, compare));
  for (const auto& [name, hash] : expected) {
    if (!seen.contains(name)) differences.push_back(fmt::format("{} was removed", name));
  }
  std::sort(differences.begin(), differences.end());
  return differences;
}

}  // namespace upskill
