// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct DeskCommandOptions {
  std::string folder;
  bool print = false;
  bool whole = false;  // also what earlier requests have
  std::string answer;  // a file, or - for standard input; empty: none is given
  int number = 0;      // of the request; 0: the first one that waits
};

void AddDeskCommand(CLI::App& app, DeskCommandOptions& options);
ExitCode RunDesk(const DeskCommandOptions& options, Env& env);

}  // namespace upskill
