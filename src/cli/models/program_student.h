// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "cli/env/env.h"
#include "cli/models/students.h"
#include "model/catalog.h"
#include "model/model_spec.h"
#include "program/program.h"
#include "util/result.h"

namespace upskill {

// The programs that are known: those that are built in, and those of the user's own file ($UPSKILL_AGENTS, else
// ~/.config/upskill/agents.toml).
Result<std::vector<AgentProgram>> LoadProgramsOf(const Env& env);

// `agent:PROGRAM[:MODEL]`. Errors: an unknown program; one that isn't installed, and how to install it; a model that it
// can't ask; those of MakeProgramModel.
Result<std::unique_ptr<Model>> OpenProgram(const ModelSpec& spec, const Catalog& catalog, const ModelOptions& options,
                                           std::chrono::milliseconds time_limit, const Env& env);

}  // namespace upskill
