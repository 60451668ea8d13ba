// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "install/skill_files.h"

namespace upskill {

// A line of what changes between two versions of a skill.
struct DiffLine {
  enum class Kind { kFile, kRemoved, kAdded };

  Kind kind = Kind::kFile;
  std::string text;  // kFile: "SKILL.md", or "a.png (was binary, 10 bytes; now 12 bytes)"
};

// What has to be read before a new version replaces the old one: for each file that differs its name, then the lines
// that are removed and added, in their order. Files that aren't text, or are too long to compare, have only sizes.
// All these files are named; of each, about as many lines are shown as its share of `most_lines`, at least three, and a
// line of the kind kFile says how many more there are.
std::vector<DiffLine> SkillDiff(const FileMap& before, const FileMap& after, std::size_t most_lines);

}  // namespace upskill
