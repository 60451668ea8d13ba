// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "skill/skill.h"
#include "util/result.h"

namespace upskill {

// A SKILL.md split at its two `---` lines. The views point into the text.
struct SkillParts {
  std::string_view frontmatter;  // starts on line 2 of the file
  std::string_view body;
};

// A byte order mark before the first line is left out. Errors: invalid UTF-8, no `---` on the first line, no closing
// `---`, more than 64 KiB in between.
Result<SkillParts> SplitFrontmatter(std::string_view text, const std::string& source);

// A skill's name and description, trimmed, empty if absent; its other fields, and what violates the specification.
// `yaml` starts on line 2 of `source`; errors name line and column in the file.
Result<Skill> ParseFrontmatter(std::string_view yaml, const std::string& source);

}  // namespace upskill
