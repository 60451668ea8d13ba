// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct QuickstartOptions {
  std::string model;  // empty: the default model, in process
  double max_cost_usd = 0.5;
};

void AddQuickstartCommand(CLI::App& app, QuickstartOptions& options);

// Measures the example skill in three steps, each with the command that does the same. A key of the user is used only
// if a model is named.
ExitCode RunQuickstart(const QuickstartOptions& options, Env& env);

}  // namespace upskill
