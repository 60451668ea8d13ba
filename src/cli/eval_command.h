// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/config.h"
#include "cli/env.h"
#include "cli/eval_options.h"
#include "eval/budget.h"
#include "eval/gate.h"
#include "eval/judged_run.h"
#include "util/result.h"

namespace upskill {

// Runs `eval` or `benchmark` (EvalOptions::table_first).
ExitCode RunEval(const EvalOptions& options, Env& env);

// The run of one skill among several.
struct EvalPart {
  ExitCode code = ExitCode::kSuccess;
  std::filesystem::path run_folder;  // empty: there is none
  bool ends_all = false;             // it was interrupted, or a limit reached
};
// Under a shared budget in place of its own limits on cost and tokens; null: its own.
EvalPart RunEvalPart(const EvalOptions& options, Budget* budget, Env& env);

// Whether every condition of the gate holds; says of each what was found.
bool PrintGate(const Gate& gate, const JudgedRun& run, ColorMode color, Env& env);

// A run as part of another command: nothing is printed but progress and warnings. Under `budget`. Errors also: it was
// interrupted (kCancelled), or cells have no answer.
Result<JudgedRun> RunEvalQuietly(const EvalOptions& options, const Config& config, Budget& budget, Env& env);

RunLimits LimitsOf(const EvalOptions& options);

}  // namespace upskill
