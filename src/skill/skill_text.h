// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/folder.h"
#include "util/result.h"

namespace upskill {

// A skill that hasn't been written to a folder yet.
struct SkillText {
  std::string name;
  std::string description;
  std::string body;                                             // Markdown
  std::vector<std::pair<std::string, std::string>> references;  // file name → text, under references/
  std::vector<std::pair<std::string, std::string>> scripts;     // the same under scripts/
  std::string other_fields;  // of the frontmatter (license, metadata, …), as YAML lines; may be empty
};

inline constexpr std::size_t kMaxNameCharacters = 64;
inline constexpr std::size_t kMaxDescriptionCharacters = 1024;

// Why a skill can't have this name; empty if it can.
std::string SkillNameProblem(const std::string& name);

// A YAML double-quoted scalar on one line.
std::string YamlQuoted(std::string_view text);

// What makes the text invalid according to the Agent Skills specification, one line each; empty if it is valid. Names:
// lowercase letters, digits and single hyphens. File names: a plain name without folders.
std::vector<std::string> FindSkillProblems(const SkillText& skill);

// Makes a name that follows the specification's rules from any text: "Write CUDA kernels!" → "write-cuda-kernels".
// Never empty.
std::string SkillNameFrom(std::string_view text);

// SKILL.md. The description is quoted, so that nothing in it can end the frontmatter.
std::string SkillFileText(const SkillText& skill);

// Writes SKILL.md, references/ and scripts/ under `folder`, each file whole or not at all. Other files in the folder
// are kept. Errors: a problem from FindSkillProblems, a path that can't be written.
Status WriteSkillFolder(const SkillText& skill, const Folder& folder);

}  // namespace upskill
