// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"
#include "eval/plan/plan.h"

namespace CLI {
class App;
}

namespace upskill {

struct RunsOptions {
  std::string runs_dir;  // empty: from the configuration
  std::vector<std::string> skills;
  std::vector<std::string> models;
  std::string csv;      // file to write; "-" for standard output
  bool python = false;  // the columns of the Python tool in `csv`
  std::string metric = "success";
  bool all = false;
  bool ledger = false;
  bool matrix = false;
  std::string output;                                      // with `matrix`: file for the table; empty: none
  double within_points = 100.0 * VerdictOptions().margin;  // the best value's margin of non-inferiority
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

// `runs` and its older name `plot`.
void AddRunsCommand(CLI::App& app, RunsOptions& options);
ExitCode RunRuns(const RunsOptions& options, Env& env);

}  // namespace upskill
