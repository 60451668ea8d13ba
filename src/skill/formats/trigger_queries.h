// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "skill/formats/converted_suite.h"

namespace upskill {

// Whether the list has queries that should, or should not, make an agent load the skill: [{"query",
// "should_trigger"}] (eval_queries.json of agentskills.io, run_eval.py of skill-creator).
bool HasTriggerQueries(const Json& list);

// One case for each, whose check is skipped: this program gives a model the skill or doesn't, so it can't tell whether
// an agent would have loaded it.
ConvertedSuite ConvertTriggerQueries(const Json& list, const std::vector<std::size_t>& lines,
                                     const std::filesystem::path& file);

}  // namespace upskill
