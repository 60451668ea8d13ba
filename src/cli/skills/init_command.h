// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct InitOptions {
  std::string name;
  std::string parent;  // where the skill's folder is made; empty: the configured skills folder
};

void AddInitCommand(CLI::App& app, InitOptions& options);
ExitCode RunInit(const InitOptions& options, Env& env);

}  // namespace upskill
