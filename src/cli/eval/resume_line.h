// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/eval/eval_options.h"
#include "eval/plan/plan.h"

namespace upskill {

// The command that resumes the run of this plan, with the same limits and gate.
std::string ResumeLine(const EvalOptions& options, const Plan& plan);

}  // namespace upskill
