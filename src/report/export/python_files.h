// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "eval/verdict/judged_run.h"
#include "report/terminal/runs_text.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The files that readers of the Python tool of the same name know, for its versions from 0.2.1 on. What each number
// means when this program writes it: docs/reports.md.

// Writes run_N/run_metadata.json, run_N/run_result.json and batch_summary.json into `run_folder`: for each student its
// baseline, then its run with the skill. Then renews results.csv beside the folder.
Status WritePythonFiles(const JudgedRun& run, const std::filesystem::path& run_folder);

// results.csv of all run_N folders below `runs_dir`, written by whichever program. Whole or not at all.
Status WriteResultsCsv(const std::filesystem::path& runs_dir);

// The folders below `runs_dir` that only the Python tool wrote (no plan.json), in the order of their names.
std::vector<std::filesystem::path> FindPythonRuns(const std::filesystem::path& runs_dir);

// The results in a folder of the Python tool. A baseline is put beside the run with the skill that follows it; runs
// without a baseline (benchmark mode) are summed by model. Unreadable run_N folders are left out and named in
// `warnings`.
struct PythonRun {
  std::vector<RunRow> rows;
  std::vector<Json> results;  // as they were read, in the order of their numbers
  std::vector<std::string> warnings;
};
Result<PythonRun> ReadPythonRun(const std::filesystem::path& folder);

}  // namespace upskill
