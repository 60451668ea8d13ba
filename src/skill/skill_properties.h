// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "skill/specification.h"
#include "util/json.h"

namespace upskill {

// The fields of a skill that has a name and a description, as skills-ref prints them: name and description trimmed, the
// values of `metadata` made strings, everything else unchanged.
std::variant<Json, SkillFinding> ReadSkillProperties(const std::string& path);

// What an agent's prompt says about a skill: its name, description and file, as XML that ends in a line break.
std::variant<std::string, SkillFinding> SkillPromptEntry(const std::string& path);

}  // namespace upskill
