// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"
#include "cli/models/sandbox_option.h"

namespace CLI {
class App;
}

namespace upskill {

struct RecheckOptions {
  std::string run = "latest";
  std::string tests;        // empty: the cases of the skill that the run measured
  std::string judge_model;  // empty: answers that aren't judged yet stay so
  std::string runs_dir;     // empty: from the configuration
  bool json = false;
  SandboxChoice sandbox;
  ColorMode color = ColorMode::kAuto;
};

void AddRecheckCommand(CLI::App& app, RecheckOptions& options);

// Applies the checks that the cases have now to the answers of a run, without asking its models: a new run with the
// same answers, and what is judged differently. What the run's judge has said counts; only a judge_model is asked
// again.
ExitCode RunRecheck(const RecheckOptions& options, Env& env);

}  // namespace upskill
