// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stats/interval.h"
#include "stats/pair_counts.h"
#include "stats/unit_counts.h"

namespace upskill {

// Natural logarithm of the evidence against "the lift is at most `margin`" after these pairs, in (−1, 1).
//
// A gambler bets a fraction λ of the wealth on each pair; a pair with difference d ∈ {−1, 0, 1} multiplies the wealth
// by 1 + λ(d − margin). The evidence is the wealth averaged over λ uniform on [0, 1/(1 + margin)], the range of bets
// that can't lead to ruin:
//   E = ∫₀¹ (1 − u + 2u/(1+m))^wins (1 − u + u/(1+m))^ties (1 − u)^losses du,   with margin 0: ∫₀¹ (1+λ)^W (1−λ)^L dλ.
// If the mean lift of the cases is at most the margin, the expected factor of a round is at most 1 (for independent
// cases, by the inequality of arithmetic and geometric means), so E at the ends of rounds is a non-negative
// supermartingale that starts at 1, and P(E ever reaches 1/α) ≤ α (Ville 1939). Betting on bounded means: I.
// Waudby-Smith and A. Ramdas, J. Royal Statistical Society B 86 (2024) 1; averaging over bets: H. Robbins, Ann. Math.
// Statist. 41 (1970) 1397. E decreases as the margin grows. The evidence for a lift below −margin is that of the
// mirrored counts.
//
// Units of several pairs are bet on as a whole: d is then the mean difference of their pairs, anywhere in [−1, 1]. The
// same inequality holds, and needs independence of the units only.
//
// The relative error is about 1e-12 for counts up to 10^9.
double LogEvidence(const UnitCounts& counts, double margin = 0.0);
double LogEvidence(const PairCounts& counts, double margin = 0.0);
double Evidence(const PairCounts& counts, double margin = 0.0);  // EValue of LogEvidence

double EValue(double logarithm);  // its exponential, at most DBL_MAX

// A confidence sequence for the lift: with probability 1 − alpha, its range contains the lift after every round, no
// matter how many rounds there are. It is the set of margins that neither side's evidence (at 2/alpha) has ruled out.
class LiftSequence {
 public:
  explicit LiftSequence(double alpha);

  // `totals`: counts over all rounds so far, including the new one.
  void Add(const UnitCounts& totals);
  void Add(const PairCounts& totals) { Add(UnitCounts(totals)); }
  Interval range() const { return {low_, high_}; }
  // To show beside the lift of `totals`, the counts added last: where rounds contradict each other, the range may leave
  // this lift out. Then the margins that all rounds together leave, which contain it; that range is wider, so it is
  // valid as well.
  Interval RangeWith(const UnitCounts& totals) const;

 private:
  double threshold_;  // logarithm
  double low_ = -1.0;
  double high_ = 1.0;
};

}  // namespace upskill
