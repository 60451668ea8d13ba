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

// Answers that earlier runs hold for the wanted cell keys. `cached_from` names the run in which the model gave each.
// The newest answer counts.
// Only lines with a wanted key are parsed; samples with errors, and runs that don't offer theirs, are left out.
Result<std::unordered_map<std::string, Sample>> FindCachedSamples(const std::filesystem::path& runs_dir,
                                                                  const std::unordered_set<std::string>& wanted);

// The answers that earlier runs hold for the cells of a plan.
Result<std::vector<Sample>> CachedSamplesOf(const Plan& plan, const std::filesystem::path& runs_dir);

}  // namespace upskill
