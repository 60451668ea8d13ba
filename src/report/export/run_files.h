// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "eval/verdict/judged_run.h"
#include "util/result.h"

namespace upskill {

// Writes into a run's folder what other programs' readers expect: the Python tool's files (and results.csv beside the
// folder), and agentskills/ with benchmark.json and, for up to 100 answers, its runs[] and the tree of grading.json
// files; with several models a folder for each. All of it can be made again from the journal (docs/reports.md).
Status WriteRunFiles(const JudgedRun& run, const std::filesystem::path& run_folder);

}  // namespace upskill
