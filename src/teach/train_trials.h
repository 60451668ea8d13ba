// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "teach/choice.h"
#include "teach/generation_state.h"
#include "teach/trial.h"
#include "util/result.h"

namespace upskill {

// The trials of candidates on the train cases. `state` must outlive it.
class TrainTrials {
 public:
  explicit TrainTrials(GenerationState& state) : state_(state) {}

  // A candidate on all train cases; with the baseline the first time only, since nothing needs it later.
  Status Measure(std::size_t index);

  // Tries the cases that fail with the best one in one round and, unless the candidate falls behind, in all.
  Result<Screening> Screen(std::size_t index, std::size_t best, const std::vector<std::size_t>& cases);
  void ScreenOut(std::size_t index, const Screening& screening, std::string_view stage);

  // Train cases that some answer with candidate `index` failed, or, with `passing`, that all answers passed.
  std::vector<std::size_t> CasesBy(std::size_t index, bool passing) const;

  // Of a candidate that was measured.
  const Trial& of(std::size_t index) const { return trials_.at(index); }
  // The one with the baseline; there must have been one.
  const Trial& first() const { return trials_.at(first_); }

  // By student: pass rate on train without a skill.
  const std::vector<double>& without() const { return without_; }

  // Students, by index, of whom no answer passed, without a skill or with a measured candidate.
  std::vector<std::size_t> PassedNothing() const;
  // The answers of each student that were asked for in those trials.
  std::size_t AnswersOfEach() const;

  // Adds the answers that measuring one more candidate in full, with a baseline, would take.
  void CountInFull();

 private:
  // What a candidate gains and loses on these cases. Not `whole`: in fewer rounds than its parent, so only cases count
  // of which no answer passed before or none passes now.
  void CompareByCase(Candidate& candidate, const Trial& trial, const std::vector<std::size_t>& cases, bool whole) const;

  GenerationState& state_;
  std::map<std::size_t, Trial> trials_;  // by candidate
  std::size_t first_ = 0;
  std::vector<double> without_;
};

}  // namespace upskill
