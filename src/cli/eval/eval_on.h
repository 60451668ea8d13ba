// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/env/env.h"
#include "cli/eval/eval_options.h"

namespace CLI {
class App;
}

namespace upskill {

// `eval --on`: has the shards of a run measured by an engine's jobs, follows them, and merges what they answer into an
// ordinary run. `command` has been parsed into `options`.
ExitCode RunEvalOn(const CLI::App& command, const EvalOptions& options, Env& env);

}  // namespace upskill
