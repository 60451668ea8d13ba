// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env.h"
#include "cli/eval_options.h"

namespace upskill {

// Whether these options are for RunEvalMatrix: several skills, or those that changed.
bool IsMatrix(const EvalOptions& options);

// Runs `eval` on each of options.skills in turn: an ordinary run each, under one budget, with one table at the end.
// What their plans have in common (the baselines of equal cases) is taken from the cache.
ExitCode RunEvalMatrix(const EvalOptions& options, Env& env);

}  // namespace upskill
