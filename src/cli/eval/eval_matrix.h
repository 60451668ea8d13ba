// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "cli/eval/eval_options.h"

namespace upskill {

// options.skills without paths at which nothing is left since options.changed_since; says which skills were deleted.
std::vector<std::string> SkillsNotDeleted(const EvalOptions& options, Env& env);

// Whether these options are for RunEvalMatrix: several skills, those that changed, or a table to be written.
bool IsMatrix(const EvalOptions& options);

// Runs `eval` on each of options.skills in turn: an ordinary run each, under one budget, with one table at the end.
// What their plans have in common (the baselines of equal cases) is taken from the cache, and a run that an earlier
// command left unfinished goes on.
ExitCode RunEvalMatrix(const EvalOptions& options, Env& env);

}  // namespace upskill
