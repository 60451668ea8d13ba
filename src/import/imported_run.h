// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/plan/plan.h"
#include "import/imported_results.h"
#include "util/clock.h"
#include "util/result.h"

namespace upskill {

// A run made of imported results: a plan marked as imported (Plan::imported), and its samples in the order of cells.
struct ImportedRun {
  Plan plan;
  std::vector<Sample> samples;
};

// Arranges the answers as cells. The n-th answer of a case in each arm is its answer in round n, in the order of the
// file's own numbers; a number that occurs twice is an answer that occurs twice, of which the first counts. A case that
// an arm or a model has no answer to is left out and named. Errors: no answer with the skill, or more cells than 4
// million.
Result<ImportedRun> ArrangeResults(ImportedResults results, const ImportOptions& options);

// The newest run below `runs_dir` that was imported from the same content in the same way. Runs that can't be read are
// skipped. `of_same_skill`: how many other imported runs there are of the plan's skill.
struct EarlierImports {
  std::optional<std::filesystem::path> same;
  std::size_t of_same_skill = 0;
};
EarlierImports FindEarlierImports(const std::filesystem::path& runs_dir, const Plan& plan);

// Writes the run into a new folder below `runs_dir`, and returns the folder. Fills in plan.run and plan.created.
Result<std::filesystem::path> WriteImportedRun(const std::filesystem::path& runs_dir, ImportedRun& run,
                                               const Clock& clock);

}  // namespace upskill
