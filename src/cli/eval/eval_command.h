// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "cli/env/config.h"
#include "cli/env/env.h"
#include "cli/eval/eval_options.h"
#include "eval/run/budget.h"
#include "eval/verdict/gate.h"
#include "eval/verdict/judged_run.h"
#include "measure/spec.h"
#include "util/result.h"

namespace upskill {

// Runs `eval` or `benchmark` (EvalOptions::table_first).
ExitCode RunEval(const EvalOptions& options, Env& env);

// How a run serves another command, or a table of several skills.
struct EvalUse {
  Budget* budget = nullptr;                    // in place of the run's own limits on cost and tokens; null: its own
  std::optional<double> timeout_left_seconds;  // if it shares the time with others
  bool resumes_same_run = false;               // MeasureSpec
  // Is told the run's name before anything is asked, by a command that may be killed; its error ends the run.
  std::function<Status(const std::string& run)> on_run;
};

struct EvalPart {
  ExitCode code = ExitCode::kSuccess;
  std::filesystem::path run_folder;  // empty: there is none
  bool ends_all = false;             // it was interrupted, or a limit reached
};
EvalPart RunEvalPart(const EvalOptions& options, const EvalUse& use, Env& env);

// Whether every condition of the gate holds; says of each what was found.
bool PrintGate(const Gate& gate, const JudgedRun& run, ColorMode color, Env& env);

// Measures what another command wants to know: nothing is printed but progress and warnings. Errors also: it was
// interrupted (kCancelled), or cells have no answer.
Result<JudgedRun> RunEvalQuietly(const MeasureSpec& spec, const EvalOptions& options, const Config& config,
                                 const EvalUse& use, Env& env);

RunLimits LimitsOf(const EvalOptions& options);

}  // namespace upskill
