// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct UpdateOptions {
  std::vector<std::string> names;   // empty: all
  std::vector<std::string> agents;  // empty: all
  bool force = false;
  bool dry_run = false;
};

void AddUpdateCommand(CLI::App& app, UpdateOptions& options);
// Exit code kFailed: at least one skill isn't current.
ExitCode RunUpdate(const UpdateOptions& options, Env& env);

}  // namespace upskill
