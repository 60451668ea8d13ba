// SPDX-License-Identifier: Apache-2.0
#include "skill/skill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <system_error>
#include <utility>

#include "skill/frontmatter.h"
#include "skill/skill_tree.h"
#include "util/byte_order_mark.h"
#include "util/files.h"
#include "util/text.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSkillBytes = std::uint64_t{1} << 20U;

bool IsSkillFileName(const fs::path& name) { return name == "SKILL.md" || name == "skill.md"; }

Result<fs::path> FindSkillFile(const fs::path& path) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) return ErrnoError("reading", path, code.value());
  if (!fs::is_directory(status)) {
    if (IsSkillFileName(path.filename())) return path;
    return InputError(fmt::format("{}: not a skill; give the skill's folder or its SKILL.md", path.string()));
  }
  for (const char* name : {"SKILL.md", "skill.md"}) {
    if (fs::exists(path / name, code)) return path / name;
  }
  return Error{ErrorKind::kNotFound, fmt::format("{}: no SKILL.md in this folder", path.string())};
}

// "." and a trailing slash have no name of their own.
std::string FolderName(const fs::path& folder) {
  std::error_code code;
  const fs::path absolute = fs::absolute(folder, code).lexically_normal();
  return (absolute.has_filename() ? absolute : absolute.parent_path()).filename().string();
}

}  // namespace

Result<Skill> ParseSkill(const std::string& text, const std::string& source) {
  ASSIGN_OR_RETURN(const SkillParts parts, SplitFrontmatter(text, source));
  ASSIGN_OR_RETURN(Skill skill, ParseFrontmatter(parts.frontmatter, source));
  if (skill.description.empty()) {
    return InputError(
        fmt::format("{}: \"description\" is missing or empty; state what the skill does and when to "
                    "use it",
                    source));
  }
  if (parts.body.empty()) {
    return InputError(fmt::format("{}: nothing follows the frontmatter; write the instructions there", source));
  }
  if (text.starts_with(kByteOrderMark)) {
    skill.warnings.push_back(
        fmt::format("{} starts with a byte order mark, which agents may not understand; save it without one", source));
  }
  skill.body = std::string(parts.body);
  skill.text = text;
  return skill;
}

Result<Skill> LoadSkill(const fs::path& path) {
  ASSIGN_OR_RETURN(const fs::path file, FindSkillFile(path));
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file, kMaxSkillBytes));
  ASSIGN_OR_RETURN(Skill skill, ParseSkill(text, file.string()));
  skill.file = file;
  skill.folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const std::string folder_name = FolderName(skill.folder);
  if (skill.name.empty()) {
    skill.name = folder_name;
  } else if (skill.name != folder_name) {
    skill.warnings.push_back(fmt::format("{}: name \"{}\" differs from its folder \"{}\"", file.string(),
                                         ExcerptLine(skill.name, 80), folder_name));
  }
  for (const auto& [name, list] : {std::pair{"references", &skill.references}, std::pair{"scripts", &skill.scripts}}) {
    const SkillListing listing =
        ListSkillFolder(skill.folder, [&](const std::string& file_name) { return !IsAtOrBelow(file_name, {name}); });
    for (const auto& [entry, type] : listing.entries) {
      if (type == fs::file_type::regular && entry != name) list->push_back(entry);
    }
    if (listing.status && list->size() <= kMaxSkillFiles) continue;
    list->resize(std::min(list->size(), kMaxSkillFiles));
    skill.warnings.push_back(
        fmt::format("{}: only {} files could be listed", (skill.folder / name).string(), list->size()));
  }
  return skill;
}

}  // namespace upskill
