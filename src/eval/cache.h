// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "eval/plan.h"
#include "eval/sample.h"
#include "util/result.h"

namespace upskill {

// The newest answers in earlier runs for the wanted cell keys. `cached_from` names the run in which the model gave
// each. Only lines with a wanted key are parsed. Errors, and runs that don't offer their answers, are skipped.
Result<std::unordered_map<std::string, Sample>> FindCachedSamples(const std::filesystem::path& runs_dir,
                                                                  const std::unordered_set<std::string>& wanted);

// The answers in earlier runs for the cells of a plan.
Result<std::vector<Sample>> CachedSamplesOf(const Plan& plan, const std::filesystem::path& runs_dir);

}  // namespace upskill
