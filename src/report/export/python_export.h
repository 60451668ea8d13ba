// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// A run as the Python tool of the same name would have logged it: for each student and round, a result of the baseline
// and one with the skill, numbered from 1. `passed` and `assertions_*` mean what they mean there (cli.py of upskill
// 0.2.1): an assertion is the `expected` of a case, or one of its other checks. Rounds without any sample are left out.
std::vector<Json> PythonRounds(const JudgedRun& run);

// Writes DIR/<run>/run_N/, DIR/<run>/batch_summary.json and DIR/results.csv for the runs, with a run_N for each result
// of PythonRounds. Errors: a run's folder is there already, so that none is mixed with another.
Status ExportToPython(std::span<const JudgedRun> runs, const std::filesystem::path& dir);

}  // namespace upskill
