// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "skill/strict_yaml.h"
#include "util/result.h"

namespace upskill {

// The Agent Skills specification as its reference implementation, skills-ref 0.1, understands it: the same skills are
// valid, and the messages are its own, except what is wrong with the YAML and that a byte order mark is named.
// skill/skill.h reads skills leniently instead.

// Begins the message about frontmatter that isn't YAML.
inline constexpr std::string_view kYamlProblem = "Invalid YAML in frontmatter: ";

// The message about a folder that isn't a skill's.
inline constexpr std::string_view kNoSkillFile = "Missing required file: SKILL.md";

inline constexpr std::uint64_t kMaxValidatedBytes = std::uint64_t{1} << 20U;  // as LoadSkill

// What is wrong with a skill, or could be better. Lines and columns (in code points) start at 1; 0: at no place.
struct SkillFinding {
  std::string message;
  std::size_t line = 0;
  std::size_t column = 0;
};

// A SKILL.md whose frontmatter is a map.
struct SpecifiedSkill {
  StrictYaml fields;
  std::string body;           // without white space at either end
  std::size_t body_line = 0;  // of its first character
  // Where a `---` shares its line with other text, which only the reference implementation accepts; 0: nowhere.
  std::size_t shared_fence_line = 0;
};

// The whole of a SKILL.md.
Result<std::string> ReadSpecifiedFile(const std::filesystem::path& file);

// Whether a field that must have text has none.
bool IsBlankField(const StrictYaml& field);

// Reads the text of a SKILL.md, or says why it can't be read.
std::variant<SpecifiedSkill, SkillFinding> ReadSpecifiedSkill(std::string_view text);

// What is wrong with a name, for a skill in a folder of this name.
std::vector<SkillFinding> FindNameErrors(const StrictYaml& field, const std::string& folder_name);

// What is wrong with the fields, in the reference implementation's order. `folder_name`: of the skill's folder.
std::vector<SkillFinding> FindFieldErrors(const SpecifiedSkill& skill, const std::string& folder_name);

// SKILL.md of a folder, or else skill.md; nothing if there is neither.
std::optional<std::filesystem::path> SpecifiedFile(const std::filesystem::path& folder);

// A path as Python's pathlib writes it: "./a//b/" is "a/b".
std::string PlainPath(const std::string& path);

// The skill's folder of a path that may name its SKILL.md, written as PlainPath does.
std::string SkillFolderOf(const std::string& path);

struct SkillValidation {
  std::string folder;                // as it was given
  std::string file;                  // its SKILL.md; empty if it has none
  std::vector<SkillFinding> errors;  // none: the skill is valid
  std::optional<SpecifiedSkill> skill;
};

// Validates the skill in a folder, or of a SKILL.md.
SkillValidation ValidateSkill(const std::string& path);

}  // namespace upskill
