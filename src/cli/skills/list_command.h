// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ListOptions {
  std::string skills_dir;           // empty: from the configuration
  std::string runs_dir;             // empty: from the configuration
  std::vector<std::string> agents;  // not empty: the skills that these find
  bool verbose = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddListCommand(CLI::App& app, ListOptions& options);
ExitCode RunList(const ListOptions& options, Env& env);

}  // namespace upskill
