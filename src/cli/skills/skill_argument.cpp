// SPDX-License-Identifier: Apache-2.0
#include "cli/skills/skill_argument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <system_error>
#include <vector>

#include "cli/env/config.h"
#include "skill/skill_tree.h"

namespace upskill {
namespace {

namespace fs = std::filesystem;

fs::path AbsoluteFolder(fs::path path) {
  std::error_code code;
  if (path.filename() == "SKILL.md" && !fs::is_directory(path, code)) path = path.parent_path();
  const fs::path absolute = fs::absolute(path.empty() ? "." : path, code).lexically_normal();
  return absolute.has_filename() ? absolute : absolute.parent_path();
}

// A folder that isn't a skill, such as a plugin, stands for the only skill below it.
Result<fs::path> SkillIn(const fs::path& path) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return path;
  ASSIGN_OR_RETURN(const std::vector<std::string> skills, FindSkillFolders(path));
  if (skills.empty()) return path;
  if (skills.size() == 1) return fs::path(skills.front());
  return Error{ErrorKind::kNotFound, fmt::format("{}: has {} skills; name one:\n  {}", path.string(), skills.size(),
                                                 fmt::join(skills, "\n  "))};
}

}  // namespace

Result<fs::path> PathOfSkill(const std::string& skill, const Env& env) {
  std::error_code code;
  if (fs::exists(skill, code)) return SkillIn(AbsoluteFolder(skill));
  if (skill.empty() || skill.find('/') != std::string::npos || skill == "..") {
    return Error{ErrorKind::kNotFound, fmt::format("no skill '{}'; give a skill's folder or a .skill archive", skill)};
  }
  ASSIGN_OR_RETURN(const Config config, LoadConfig(env));
  if (const fs::path named = config.skills_dir / skill; fs::is_directory(named, code)) return AbsoluteFolder(named);
  return Error{ErrorKind::kNotFound,
               fmt::format("no skill '{}' here or in {}; give a skill's folder or a .skill archive", skill,
                           config.skills_dir.string())};
}

}  // namespace upskill
