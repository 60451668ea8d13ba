// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env.h"
#include "cli/generate_command.h"

namespace CLI {
class App;
}

namespace upskill {

// `app`: as it parsed the command line into `options`; it knows which options were given.
ExitCode RunGenerate(const CLI::App& app, GenerateCommandOptions options, Env& env);

}  // namespace upskill
