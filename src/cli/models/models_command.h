// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ModelsOptions {
  std::string name;     // pull: org/repo[:QUANT], or default
  bool update = false;  // pull: also when it is there
  bool check = false;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

// `models` and `models pull`.
void AddModelsCommand(CLI::App& app, ModelsOptions& options);
ExitCode RunModels(const CLI::App& app, const ModelsOptions& options, Env& env);

}  // namespace upskill
