// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "util/result.h"

namespace upskill {

// The ones of `skills` whose folders differ from what git has at `reference` (a commit, branch or tag), new files that
// git doesn't ignore included. `tests`: a file of cases that all of them share; empty: none. Errors: git isn't
// installed, a folder isn't in a repository, or the reference isn't known.
Result<std::vector<std::string>> SkillsChangedSince(const std::vector<std::string>& skills,
                                                    const std::string& reference, const std::string& tests);

}  // namespace upskill
