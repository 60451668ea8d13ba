// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "cli/env/env.h"
#include "cli/generate/generate_command.h"
#include "util/result.h"

namespace upskill {

struct GenerateEnd {
  ExitCode code = ExitCode::kSuccess;
  double spent_usd = 0.0;  // as a limit on cost counts it; 0 if there was no outcome
};

// As a part of another command, whose `options.given` are the options that count as given. `opened` is told the
// generation's name before anything is asked; its error ends the generation. Nothing is said of tests and measuring,
// and a generation that was stopped is continued by the other command.
GenerateEnd RunGenerateAsPart(GenerateCommandOptions options,
                              const std::function<Status(const std::string& id)>& opened, Env& env);

}  // namespace upskill
