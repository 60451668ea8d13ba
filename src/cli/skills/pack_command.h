// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct PackOptions {
  std::string skill;
  std::string output;  // empty: NAME.skill
  bool with_tests = false;
};

void AddPackCommand(CLI::App& app, PackOptions& options);
ExitCode RunPack(const PackOptions& options, Env& env);

}  // namespace upskill
