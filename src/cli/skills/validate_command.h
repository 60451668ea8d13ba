// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ValidateOptions {
  std::vector<std::string> paths;
  bool recursive = false;
  bool strict = false;  // also give advice, and fail if there is any
  bool json = false;
  std::string format;  // "text" or "github"
};

void AddValidateCommand(CLI::App& app, ValidateOptions& options);
ExitCode RunValidate(const ValidateOptions& options, Env& env);

}  // namespace upskill
