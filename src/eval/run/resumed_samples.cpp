// SPDX-License-Identifier: Apache-2.0
#include "eval/run/resumed_samples.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace upskill {

ResumedSamples SortResumed(std::vector<Sample> resumed, const std::vector<Cell>& cells) {
  ResumedSamples sorted;
  std::unordered_set<std::string_view> keys;
  if (!resumed.empty()) {
    keys.reserve(cells.size());
    for (const Cell& cell : cells) keys.insert(cell.key);
  }
  for (Sample& sample : resumed) {
    const bool wanted = keys.contains(sample.key);
    if (sample.ok()) {
      if (wanted) sorted.answers.push_back(std::move(sample));
    } else if (sample.keeps_answer) {
      if (!wanted) continue;
      std::string cell = CellName(sample);
      sorted.kept[std::move(cell)] = ToCheckAgain(std::move(sample));
    } else {
      int& attempts = sorted.attempts[CellName(sample)];
      attempts = std::max(attempts, sample.attempt + 1);
      sorted.errors.push_back(std::move(sample));
    }
  }
  return sorted;
}

}  // namespace upskill
