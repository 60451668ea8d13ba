// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/result.h"

namespace upskill {

// An Agent Skill read from disk. Format: https://agentskills.io specification (SKILL.md with YAML frontmatter).
struct Skill {
  std::filesystem::path folder;
  std::filesystem::path file;  // folder/SKILL.md (or skill.md)
  std::string name;            // frontmatter `name`, else the folder's name with a warning
  std::string description;
  std::string other_fields;  // of the frontmatter, whole lines, unchanged; empty: none, or on a line with those two
  std::string body;          // Markdown after the frontmatter, trimmed
  std::string text;          // of the whole file
  std::vector<std::string> references;  // relative paths of the files under references/ and scripts/, sorted
  std::vector<std::string> scripts;
  std::vector<std::string> warnings;  // what a lenient reader accepts but the user should fix
};

// Reads a skill folder, or the SKILL.md itself. Errors name the file, the line and the fix: no folder, no SKILL.md,
// invalid UTF-8, frontmatter missing, not closed, not YAML (line and column) or not a mapping, empty description, empty
// body.
Result<Skill> LoadSkill(const std::filesystem::path& path);

// The same from text; `source` names it in messages.
Result<Skill> ParseSkill(const std::string& text, const std::string& source);

}  // namespace upskill
