// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct MergeOptions {
  std::vector<std::string> runs;  // folders, names or ends of names of runs; or folders that hold runs
  std::string output;
  std::string runs_dir;  // empty: from the configuration
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddMergeCommand(CLI::App& app, MergeOptions& options);

// Joins the shards of a run and prints its result. Exit code 3 when cells are missing.
ExitCode RunMerge(const MergeOptions& options, Env& env);

}  // namespace upskill
