// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "util/result.h"

namespace upskill {

// A SKILL.md split at its two `---` lines. The views point into the text.
struct SkillParts {
  std::string_view frontmatter;  // starts on line 2 of the file
  std::string_view body;
};

// Errors: a byte order mark, invalid UTF-8, no `---` on the first line, no closing `---`, more than 64 KiB in between.
Result<SkillParts> SplitFrontmatter(std::string_view text, const std::string& source);

// The two fields that the program reads, trimmed, empty if absent; and the others.
struct Frontmatter {
  std::string name;
  std::string description;
  std::string others;                 // whole lines, unchanged; empty: none, or they share a line with those two
  std::vector<std::string> warnings;  // where a field violates the specification
};

// `yaml` starts on line 2 of `source`; errors name line and column in the file.
Result<Frontmatter> ParseFrontmatter(std::string_view yaml, const std::string& source);

}  // namespace upskill
