// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env.h"
#include "cli/eval_options.h"

namespace upskill {

// Runs `eval` or `benchmark` (EvalOptions::table_first).
ExitCode RunEval(const EvalOptions& options, Env& env);

}  // namespace upskill
