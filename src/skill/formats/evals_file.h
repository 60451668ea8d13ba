// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "skill/formats/converted_suite.h"

namespace upskill {

// The cases of an evals.json, as agentskills.io (docs/skill-creation/evaluating-skills) and skill-creator
// (references/schemas.md) write it: {"skill_name", "evals": [{"id", "prompt", "expected_output", "files",
// "assertions" or "expectations"}]}. Assertions become checks of the judge; files, named from the skill's folder or
// from the file's own, become the case's context. A case that has checks in this program's form is kept as it is.
// `list`: the evals; `lines`: of each.
ConvertedSuite ConvertEvals(const Json& list, const std::vector<std::size_t>& lines, const std::filesystem::path& file);

// Whether the list has a case of that form.
bool HasProseCases(const Json& list);

}  // namespace upskill
