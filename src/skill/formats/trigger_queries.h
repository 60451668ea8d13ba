// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "skill/formats/converted_suite.h"
#include "util/result.h"

namespace upskill {

// Whether the list has queries that should, or should not, make an agent load the skill: [{"query",
// "should_trigger"}] (eval_queries.json of agentskills.io, run_eval.py of skill-creator).
bool HasTriggerQueries(const Json& list);

// One case for each, with a check of the type `activates`, which is skipped except where activation is measured.
// Errors: a query that is no text, "should_trigger" that is missing or not true or false, with their places.
Result<ConvertedSuite> ConvertTriggerQueries(const Json& list, const std::vector<std::size_t>& lines,
                                             const std::filesystem::path& file);

}  // namespace upskill
