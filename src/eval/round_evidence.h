// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "eval/complete_rounds.h"
#include "stats/e_process.h"
#include "stats/pair_counts.h"

namespace upskill {

// The evidence on one student after each of its complete rounds. It may be brought up to date while the run grows, and
// then computes anew only from the first round whose outcomes are not what they were: evidence is an integral, the
// confidence sequence some dozens of them.
class RoundEvidence {
 public:
  // Copies of a round are no evidence: when the answers repeat, only the first round counts.
  void Update(const CompleteRounds& complete, double min_lift);

  std::size_t rounds() const { return totals_.size(); }
  const PairCounts& totals(std::size_t rounds) const { return totals_[rounds - 1]; }  // over the first `rounds`

  // The most evidence after any round for a lift above min_lift and for one below 0; logarithms.
  double most_helps() const;
  double most_hurts() const;
  // Whether the evidence for `helps` was at least `threshold` (a logarithm) no later than that for `hurts`.
  bool HelpsFirst(double threshold) const;

  // The confidence sequence after all rounds, of which there is at least one. `alpha` must always be the same.
  const LiftSequence& Sequence(double alpha);

 private:
  std::vector<PairCounts> totals_;  // after each round
  std::vector<double> helps_;       // logarithms
  std::vector<double> hurts_;
  std::vector<LiftSequence> sequences_;  // after each round, as far as it was asked for
};

}  // namespace upskill
