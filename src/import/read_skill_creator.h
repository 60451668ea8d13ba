// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "import/imported_results.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The results of skill-creator and of the guide of agentskills.io: benchmark.json (references/schemas.md of
// skill-creator), and workspaces with a grading.json for each answer. An answer passes if all its expectations do, or
// with ImportOptions::pass_at below 1, if that share of them does.

bool IsBenchmark(const Json& json);

// Errors: no runs[], or none of them is of a known configuration; the message says why there is no verdict.
Result<ImportedResults> ResultsOfBenchmark(const Json& json, const std::string& source, const ImportOptions& options);

// A workspace: <eval>/<configuration>/[run-N/]grading.json below `folder`, with timing.json and eval_metadata.json
// beside. The evaluations of different iterations are different results. Links aren't followed. Errors: no grading.json
// in a folder of a known configuration, too many files, a file that can't be read.
Result<std::vector<ImportedResults>> ResultsOfWorkspace(const std::filesystem::path& folder,
                                                        const ImportOptions& options);

}  // namespace upskill
