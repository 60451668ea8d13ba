// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// Published results of SkillsBench: a file of its leaderboard (results[].results[] with task_id, condition and passed),
// or a folder of its trajectories, in which Harbor has written a result.json for each trial
// (MODEL/with_skills|no_skills/TASK__ID/result.json). A trial is one generation; it passes if its reward reaches
// --pass-at.

bool IsSkillsBench(const Json& json);

// Errors: no trial is of a known condition.
Result<ImportedResults> ResultsOfSkillsBench(const Json& json, const std::string& source, const ImportOptions& options);

// `files`: the result.json files below `folder`. Errors: a file that can't be read, no trial of a known condition.
Result<ImportedResults> ResultsOfTrials(const std::filesystem::path& folder,
                                        const std::vector<std::filesystem::path>& files, const ImportOptions& options);

}  // namespace upskill
