// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "skill/specification.h"

namespace upskill {

inline constexpr std::size_t kAdvisedBodyLines = 500;
inline constexpr std::size_t kAdvisedBodyTokens = 5000;

// What a valid skill could do better, in the order of the text: a long body, links to files that aren't there, paths of
// one machine, a description that doesn't say when to use the skill, names and keys that only some agents accept, and
// scripts that can't be run. `folder`: the skill's.
std::vector<SkillFinding> FindSkillAdvice(const SpecifiedSkill& skill, const std::filesystem::path& folder);

}  // namespace upskill
