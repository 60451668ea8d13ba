// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "eval/complete_rounds.h"
#include "stats/e_process.h"
#include "stats/pair_counts.h"

namespace upskill {

// The evidence on one student after each of its complete rounds. Updates while the run grows recompute only from the
// first round whose outcomes changed, because evidence is an integral and a confidence sequence takes dozens of them.
class RoundEvidence {
 public:
  // Repeated answers add no evidence: if they repeat, only the first round counts.
  void Update(const CompleteRounds& complete, double min_lift);

  std::size_t rounds() const { return totals_.size(); }
  const PairCounts& totals(std::size_t rounds) const { return totals_[rounds - 1]; }  // over the first `rounds`

  // The most evidence after any round for a lift above min_lift and for one below 0; logarithms.
  double most_helps() const;
  double most_hurts() const;
  // Whether the evidence for `helps` was at least `threshold` (a logarithm) no later than that for `hurts`.
  bool HelpsFirst(double threshold) const;

  // The confidence sequence after all rounds; there must be at least one. `alpha` must be the same in every call.
  const LiftSequence& Sequence(double alpha);

 private:
  std::vector<PairCounts> totals_;  // after each round
  std::vector<double> helps_;       // logarithms
  std::vector<double> hurts_;
  std::vector<LiftSequence> sequences_;  // after each round, as far as computed
};

}  // namespace upskill
