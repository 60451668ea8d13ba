// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "util/result.h"

namespace upskill {

// The text of a SKILL.md with another description; everything else stays as it is, byte for byte. Errors (kInput): the
// frontmatter can't be read, it states the description in a form that can't be replaced (such as a quoted key), or the
// description isn't one that a skill may have (FindSkillProblems). `source` names the text.
Result<std::string> WithDescription(const std::string& text, const std::string& description, const std::string& source);

// Why a skill can't have this description; empty if it can.
std::string DescriptionProblem(const std::string& description);

}  // namespace upskill
