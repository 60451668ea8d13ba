// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct EvalOptions {
  std::string skill;
  std::vector<std::string> models;
  std::string tests;
  int rounds = 1;
  bool no_baseline = false;
  bool verbose = false;
  bool quiet = false;
  bool json = false;
  bool log_runs = true;
  bool use_cache = true;
  int parallel = 0;
  std::string runs_dir;  // empty: from the configuration
  std::string resume;    // run to go on with; empty: a new one
  int max_tokens = 512;
  double temperature = 0.7;
  std::uint64_t seed = 0;
  ColorWish color = ColorWish::kAuto;
  bool table_first = false;  // the command `benchmark`
};

void AddEvalCommand(CLI::App& app, EvalOptions& options);
void AddBenchmarkCommand(CLI::App& app, EvalOptions& options);
ExitCode RunEval(const EvalOptions& options, Env& env);

}  // namespace upskill
