// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "eval/journal/run_data.h"
#include "eval/verdict/verdict.h"

namespace upskill {

// Errors aren't missing at random: a timeout may take failing answers of one arm and leave the others, and retrying it
// draws the answer again until it passes. No verdict may rest on that.

// The largest share of a suite's cases that errors may exclude from a verdict.
inline constexpr double kMaxExcludedShare = 0.2;

// Whether any attempt at a cell failed.
bool HasErrors(const RunData& data);

// What `judge` says of `data`, with each word withdrawn (StudentVerdict::doubt) that it doesn't say as well if all
// answers lost to errors told against it, or if errors exclude more than kMaxExcludedShare of the cases. A lost answer
// tells against `helps` if it failed with the skill or passed without, and the other way round against `hurts`; `no
// effect` must hold in both cases.
std::vector<StudentVerdict> DoubtVerdicts(const RunData& data,
                                          const std::function<std::vector<StudentVerdict>(const RunData&)>& judge);

}  // namespace upskill
