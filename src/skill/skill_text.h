// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/result.h"

namespace upskill {

// A skill before it is a folder.
struct SkillText {
  std::string name;
  std::string description;
  std::string body;                                             // Markdown
  std::vector<std::pair<std::string, std::string>> references;  // file name → text, below references/
  std::vector<std::pair<std::string, std::string>> scripts;     // the same below scripts/
  std::string other_fields;  // of the frontmatter (license, metadata, …), as YAML lines; may be empty
};

inline constexpr std::size_t kMaxNameCharacters = 64;
inline constexpr std::size_t kMaxDescriptionCharacters = 1024;

// What keeps the text from being a skill by the Agent Skills specification, one line each; empty: nothing.
// Names: lowercase letters, digits and single hyphens. File names: one plain name, no folder.
std::vector<std::string> FindSkillProblems(const SkillText& skill);

// A name by the specification's rules from any text: "Write CUDA kernels!" → "write-cuda-kernels". Never empty.
std::string SkillNameFrom(std::string_view text);

// SKILL.md. The description is quoted, so that no text in it can end the frontmatter.
std::string SkillFileText(const SkillText& skill);

// Writes SKILL.md, references/ and scripts/ below `folder`, each file whole or not at all. Other files of the folder
// stay as they are. Errors: a problem of FindSkillProblems, a path that can't be written.
Status WriteSkillFolder(const SkillText& skill, const std::filesystem::path& folder);

}  // namespace upskill
