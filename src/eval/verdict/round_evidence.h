// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "eval/plan/plan.h"
#include "eval/verdict/complete_rounds.h"
#include "stats/e_process.h"
#include "stats/forecast.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "stats/unit_counts.h"

namespace upskill {

// How a plan's verdicts spend alpha over rounds.
SpendingSchedule ScheduleOf(const Plan& plan);

// The evidence on one student after each of its complete rounds. Updates while the run grows recompute only from the
// first round whose outcomes changed, because all of this takes a while.
//
// `helps` claims a lift above min_lift: without one it is decided by a sign-flip sequence, else by the e-process.
// `hurts` claims a lift below 0: by a sign-flip sequence.
class RoundEvidence {
 public:
  explicit RoundEvidence(const Plan& plan);

  // Only rounds that are evidence count (CompleteRounds::evidence_rounds).
  void Update(const CompleteRounds& complete);

  std::size_t rounds() const { return totals_.size(); }
  const UnitCounts& totals() const { return totals_.back(); }  // over all rounds; there must be one
  std::size_t units() const { return unit_sizes_.size(); }
  // By round and unit: the mean of (passed with − passed without) over the unit's cases.
  const std::vector<std::vector<double>>& changes() const { return changes_; }
  const std::vector<std::size_t>& unit_sources() const { return unit_sources_; }  // CompleteRounds::unit_sources
  const SpendingSchedule& schedule() const { return schedule_; }
  SequenceState state() const;

  // The first round, from 1, after which the test with this error probability has decided; 0: none. The result for
  // a round stays the same when more rounds come.
  int HelpsRound(double alpha);
  int HurtsRound(double alpha);
  // The smallest error probability with which they decide: p-values that are valid at every look.
  SequentialPValues PValues() const;
  // The smallest one with which the confidence sequence lies within ±margin; valid at every look.
  double PNoEffect(double margin) const;
  // The sign-flip sequence with this error probability.
  const SignFlipSequence& Signs(double alpha);

  // Evidence for a lift above min_lift and for one below 0, after all rounds and the most after any; logarithms.
  double helps() const { return helps_.empty() ? 0.0 : helps_.back(); }
  double hurts() const { return hurts_.empty() ? 0.0 : hurts_.back(); }
  double most_helps() const;
  double most_hurts() const;

  // The confidence sequence after all rounds; there must be at least one. `alpha` must be the same in every call.
  const LiftSequence& Sequence(double alpha);

 private:
  double min_lift_;
  SpendingSchedule schedule_;
  std::vector<int> unit_sizes_;  // cases by unit
  std::vector<std::size_t> unit_sources_;
  std::vector<std::vector<int>> sums_;        // wins − losses by round and unit
  std::vector<std::vector<double>> changes_;  // the same by case
  std::vector<UnitCounts> totals_;            // after each round, like all of these:
  std::vector<double> helps_;                 // logarithms
  std::vector<double> hurts_;
  std::vector<LiftSequence> sequences_;       // as far as computed
  std::map<double, SignFlipSequence> signs_;  // by alpha, as far as computed
};

}  // namespace upskill
