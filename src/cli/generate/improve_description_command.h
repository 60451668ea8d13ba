// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"
#include "cli/eval/eval_options.h"

namespace CLI {
class App;
}

namespace upskill {

struct ImproveDescriptionOptions {
  EvalOptions eval;  // how descriptions are measured
  std::string teacher;
  int tries = 3;
  std::string output;  // the SKILL.md to write; empty: the skill's own
  bool dry_run = false;
};

void AddImproveDescriptionCommand(CLI::App& app, ImproveDescriptionOptions& options);

// Has a teacher write descriptions, measures each on the train queries, and the best of them on the held-out ones, on
// which it is judged. Writes it if it does better there, or as well while it does better on the train queries.
ExitCode RunImproveDescription(const ImproveDescriptionOptions& options, Env& env);

}  // namespace upskill
