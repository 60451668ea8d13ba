// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct JudgeCheckOptions {
  std::string labels;  // file; empty with `sheet`
  std::string judge;
  std::string sheet;  // the run whose answers are to be labelled
  std::string base_url;
  std::string runs_dir;  // empty: from the configuration
  std::optional<double> max_cost_usd;
  std::optional<double> min_kappa;
  int parallel = 0;
  bool verbose = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddJudgeCheckCommand(CLI::App& app, JudgeCheckOptions& options);

// Compares a judge with the labels of people, and notes for later runs how often it errs. With `sheet`, prints answers
// of a run to be labelled. Exit code 1 if kappa isn't above min_kappa, 3 if answers are left unjudged.
ExitCode RunJudgeCheck(const JudgeCheckOptions& options, Env& env);

}  // namespace upskill
