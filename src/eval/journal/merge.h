// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "util/clock.h"
#include "util/result.h"

namespace upskill {

struct MergeOutcome {
  std::filesystem::path folder;
  std::size_t samples = 0;     // in the merged run
  std::size_t duplicates = 0;  // of these, samples of cells that are in several runs
  std::size_t missing = 0;     // cells of the whole plan that no run answered
};

// Merges the journals of runs of one plan (its shards, or interrupted runs) into one run folder. Cells are identified
// by student, arm, case and round and checked by their keys, so shards may overlap and merging the result again changes
// nothing: equal samples give a byte-identical journal. `target`: the folder to write; it may be one of the runs, or an
// earlier result. Errors: nothing to merge, or plans that differ (the message says where).
Result<MergeOutcome> MergeRuns(const std::vector<std::filesystem::path>& runs, const std::filesystem::path& target,
                               const Clock& clock);

}  // namespace upskill
