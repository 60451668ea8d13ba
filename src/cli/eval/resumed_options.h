// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/eval/eval_options.h"
#include "eval/plan/plan.h"
#include "measure/spec.h"
#include "util/result.h"

namespace upskill {

// What is given with --resume must be what the run was started with: its plan decides. And its folder may come from
// elsewhere, so its plan isn't enough to run the commands and to send requests to the servers that it names. `spec`:
// has the version of the skill that --against names.
Status CheckAgainstPlan(const MeasureSpec& spec, const EvalOptions& options, const Plan& plan);

}  // namespace upskill
