// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sandbox/sandbox.h"
#include "skill/skill_text.h"
#include "teach/material.h"

namespace upskill {

// What tools say against the code of a skill, in its text and its references: blocks in JSON, TOML, YAML, Python and
// shell that can't be parsed, and the rules of kernel-builder if the blocks are such a project with a build.toml. One
// line for each: `TOOL rejects the block that begins with "…": why`. Languages whose interpreter the sandbox lacks are
// left out, and so are blocks with an ellipsis, which are parts of a file.
std::vector<std::string> FindRejectedCode(const SkillText& skill, const Sandbox& sandbox);

// The file of an item that shows all of a file's final version; null: it doesn't.
const FileDetail* WholeFileOf(const MaterialItem& item);

// Asks the same tools about the files that the material shows whole, in their final version, and notes with each item
// whose file is rejected what the tool says (MaterialItem::known); the number of those. Files whose language the
// sandbox can't read are left alone.
std::size_t MarkRejectedFiles(const Sandbox& sandbox, Material& material);

}  // namespace upskill
