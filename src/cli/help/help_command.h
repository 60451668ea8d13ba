// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env/env.h"

namespace CLI {
class App;
}

namespace upskill {

// The last part of `upskill --help`: topics, exit codes. Call it when all commands are declared.
void AddHelpOfAll(CLI::App& app);

// Prints what `COMMAND --help` prints.
void PrintHelp(const CLI::App& command, Env& env);
// For `upskill` alone: what it does and what to try first.
void PrintFirstSteps(Env& env);

}  // namespace upskill
