// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "util/result.h"

namespace upskill {

// The ones of `skills` whose folders differ from what git has at `reference` (a commit, branch or tag) or, if that has
// gone on since, where the current branch left it; new files that git doesn't ignore included. `tests`: a file of cases
// that all of them share; empty: none. Errors: git isn't installed, a folder isn't in a repository, or the reference
// isn't known.
Result<std::vector<std::string>> SkillsChangedSince(const std::vector<std::string>& skills,
                                                    const std::string& reference, const std::string& tests,
                                                    const std::string& option);

// The folders of skills at or below `path`, from the top of the repository, that were there at `reference` and are
// gone; not those that were renamed. Errors: as above.
Result<std::vector<std::string>> SkillsDeletedSince(const std::filesystem::path& path, const std::string& reference,
                                                    const std::string& option);

// A skill's folder as git has it at `reference`, written into the folder `place` under its name; nullopt if it isn't
// there yet. One that was renamed since then has another name.
// Symbolic links become files with their targets. No hook is run, and the repository's index and files stay as they
// are. Errors: as above.
Result<std::optional<std::filesystem::path>> SkillAt(const std::filesystem::path& folder, const std::string& reference,
                                                     const std::filesystem::path& place);

}  // namespace upskill
