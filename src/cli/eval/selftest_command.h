// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cli/env/env.h"
#include "eval/plan/plan.h"

namespace CLI {
class App;
}

namespace upskill {

struct SelftestOptions {
  int runs = 500;  // simulated runs a line
  int cases = 12;
  int rounds = 10;  // the most of each run
  double alpha = VerdictOptions().alpha;
  std::uint64_t seed = 1;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddSelftestCommand(CLI::App& app, SelftestOptions& options);

// Measures the verdict rule through the whole program: plans, runner, journal, checks and verdicts, with simulated
// students whose true lift is known. Exit code 1 when a false verdict is more frequent than alpha beyond chance.
ExitCode RunSelftest(const SelftestOptions& options, Env& env);

}  // namespace upskill
