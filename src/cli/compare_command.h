// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct CompareOptions {
  std::string a;
  std::string b;
  std::string runs_dir;
  bool json = false;
  ColorMode color = ColorMode::kAuto;
};

void AddCompareCommand(CLI::App& app, CompareOptions& options);
ExitCode RunCompare(const CompareOptions& options, Env& env);

}  // namespace upskill
