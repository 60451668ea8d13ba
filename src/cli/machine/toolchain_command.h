// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ToolchainOptions {
  std::string name;  // add, remove
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

// `toolchain`, `toolchain add` and `toolchain remove`.
void AddToolchainCommand(CLI::App& app, ToolchainOptions& options);
ExitCode RunToolchain(const CLI::App& app, const ToolchainOptions& options, Env& env);

}  // namespace upskill
