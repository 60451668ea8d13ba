// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct ManOptions {
  std::vector<std::string> words;  // a command with its subcommand; none: the program
  std::string output;              // write all pages to this folder
};

void AddManCommand(CLI::App& app, ManOptions& options);
ExitCode RunMan(const CLI::App& app, const ManOptions& options, Env& env);

}  // namespace upskill
