// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/env/env.h"
#include "eval/verdict/judged_run.h"
#include "util/result.h"

namespace upskill {

Result<JudgedRun> LoadRun(const std::filesystem::path& folder);

// One line on standard error for each thing that makes the run less than it was planned to be.
void PrintRunNotes(const JudgedRun& run, Env& env);

// The folders that an argument means: a run's folder, all runs below another folder, or a run's name (its last 4
// characters, `latest`). Runs of the Python tool are among
// them: IsPythonRun tells.
Result<std::vector<std::filesystem::path>> FoldersOf(const std::string& name, const std::filesystem::path& runs_dir);

// Whether the folder has results, but only those of the Python tool.
bool IsPythonRun(const std::filesystem::path& folder);

}  // namespace upskill
