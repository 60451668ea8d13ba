// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "eval/journal/sample.h"
#include "eval/plan/cell.h"

namespace upskill {

// The samples of a resumed run, by what becomes of them.
struct ResumedSamples {
  std::vector<Sample> answers;                    // kept as they are: they answer the requests of the plan's cells
  std::unordered_map<std::string, Sample> kept;   // answers that weren't checked or judged, by CellName
  std::vector<Sample> errors;                     // of cells that are requested again
  std::unordered_map<std::string, int> attempts;  // that failed, by CellName
};

ResumedSamples SortResumed(std::vector<Sample> resumed, const std::vector<Cell>& cells);

}  // namespace upskill
