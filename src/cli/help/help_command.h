// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

struct HelpOptions {
  std::vector<std::string> words;  // a command with its subcommand, or a topic; none: all commands
};

void AddHelpCommand(CLI::App& app, HelpOptions& options);
// The last part of `upskill --help`: topics, exit codes. Call it when all commands are declared.
void AddHelpOfAll(CLI::App& app);

ExitCode RunHelp(const CLI::App& app, const HelpOptions& options, Env& env);

// Prints what `COMMAND --help` prints.
void PrintHelp(const CLI::App& command, Env& env);
// For `upskill` alone: what it does and what to try first.
void PrintFirstSteps(Env& env);

}  // namespace upskill
