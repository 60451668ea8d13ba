// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/env/env.h"
#include "eval/verdict/judged_run.h"

namespace upskill {

// The formats of `report` that are made for another program. Each prints what it has written, or an
// error, and gives the exit code. `output`: the value of -o, which may be empty.
ExitCode WritePythonRuns(std::span<const JudgedRun> runs, const std::string& output, Env& env);
ExitCode WriteSkillCreatorWorkspace(std::span<const JudgedRun> runs, const std::string& output, Env& env);
ExitCode WriteInspectLogs(std::span<const JudgedRun> runs, const std::string& output, Env& env);

}  // namespace upskill
