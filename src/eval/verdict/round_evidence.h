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
// `hurts` claims a lift below 0: by a sign-flip sequence. Answers that may be copies tell once for a claim and always
// against it (CompleteRounds::EvidenceOfRound).
class RoundEvidence {
 public:
  explicit RoundEvidence(const Plan& plan);

  // Only rounds that are evidence count (CompleteRounds::evidence_rounds).
  void Update(const CompleteRounds& complete);

  std::size_t rounds() const { return totals_.size(); }
  const UnitCounts& totals() const { return totals_.back(); }  // over all rounds; there must be one
  bool has_copies() const { return !copied_.empty(); }
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
  // The smallest one with which both a lift of −margin or less and one of margin or more are ruled out; valid at every
  // look. Only one of the two can be true, so each has the whole error probability (D. J. Schuirmann, J.
  // Pharmacokinetics and Biopharmaceutics 15 (1987) 657).
  double PNoEffect(double margin) const;
  // The sign-flip sequence with this error probability, for `helps`.
  const SignFlipSequence& Signs(double alpha) { return Signs(alpha, gains_); }

  // Evidence for a lift above min_lift and for one below 0, after all rounds and the most after any; logarithms.
  double helps() const { return gains_.logarithms.empty() ? 0.0 : gains_.logarithms.back(); }
  double hurts() const { return losses_.logarithms.empty() ? 0.0 : losses_.logarithms.back(); }
  double most_helps() const;
  double most_hurts() const;

  // The confidence sequence after all rounds; there must be at least one. `alpha` must be the same in every call. With
  // copies, it is as wide as the one after the first round, too.
  Interval Sequence(double alpha);
  // To show beside the lift of all rounds: LiftSequence::RangeWith.
  Interval SequenceWithLift(double alpha);

 private:
  // The evidence for one side.
  struct Side {
    std::vector<std::vector<double>>
        changes;                     // CompleteRounds::EvidenceOfRound by round and unit; empty without copies
    std::vector<UnitCounts> totals;  // the same after each round
    std::vector<double> logarithms;  // of the e-process after each round
    std::map<double, SignFlipSequence> signs;  // by alpha, as far as computed
  };

  void UpdateSide(const CompleteRounds& complete, std::size_t kept, bool positive, Side& side) const;
  const std::vector<std::vector<double>>& ChangesFor(const Side& side) const {
    return has_copies() ? side.changes : changes_;
  }
  const SignFlipSequence& Signs(double alpha, Side& side) const;
  const LiftSequence& Advance(double alpha);

  double min_lift_;
  SpendingSchedule schedule_;
  std::vector<int> unit_sizes_;  // cases by unit
  std::vector<std::size_t> unit_sources_;
  std::vector<std::vector<int>> sums_;        // wins − losses by round and unit
  std::vector<std::vector<double>> changes_;  // the same by case
  std::vector<bool> copied_;                  // CompleteRounds::copied
  std::vector<UnitCounts> totals_;            // after each round
  std::vector<LiftSequence> sequences_;       // after each round, as far as computed
  Side gains_;
  Side losses_;
};

}  // namespace upskill
