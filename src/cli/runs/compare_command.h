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

struct CompareOptions {
  std::string a;
  std::string b;
  std::string runs_dir;
  std::vector<std::string> choices;  // none, or two: of A and of B
  double margin_points = 100.0 * VerdictOptions().margin;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddCompareCommand(CLI::App& app, CompareOptions& options);
ExitCode RunCompare(const CompareOptions& options, Env& env);

}  // namespace upskill
