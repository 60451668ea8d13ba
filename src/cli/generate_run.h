// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env.h"
#include "cli/generate_command.h"

namespace CLI {
class App;
}

namespace upskill {

struct GenerateEnd {
  ExitCode code = ExitCode::kSuccess;
  double spent_usd = 0.0;  // as a limit on cost counts it; 0 if there was no outcome
};

// `app`: as it parsed the command line into `options`; it knows which options were given.
GenerateEnd RunGenerate(const CLI::App& app, GenerateCommandOptions options, Env& env);

}  // namespace upskill
