// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "stats/pair_counts.h"

namespace upskill {

struct Interval {
  double low = 0.0;
  double high = 0.0;

  bool Contains(double value) const { return low <= value && value <= high; }
};

// The smallest interval that contains both.
inline Interval Hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

// Score interval for a pass rate. E. B. Wilson, JASA 22 (1927) 209; checked against R. G. Newcombe, Statistics in
// Medicine 17 (1998) 857. [0, 1] when total is 0.
Interval WilsonInterval(std::int64_t passed, std::int64_t total, double confidence = 0.95);

// One unit over all rounds: a case, or the cases with one input, whose pairs may depend on each other.
struct UnitRounds {
  double rounds = 0.0;
  double sum = 0.0;      // of its change in each round: the mean of its wins − losses
  double squares = 0.0;  // of the squares of that
};

// Interval for the lift on exactly these cases: mean over units of (pass rate with − pass rate without). All with the
// same number of rounds. Returns nothing if there are no pairs.
//
// A single round: ScoreInterval. With two or more rounds, cases differ but are fixed, so the variance is that within
// units; the more confidence, the more is added for changes that weren't seen (kUnseenVariance). Nothing is added to
// the sum itself, which would pull cases that always gain towards 0. The quantile is Student's, with five degrees of
// freedom per unit and round, chosen by simulation (docs/verdicts.md has the coverage).
std::optional<Interval> LiftIntervalOfUnits(const std::vector<UnitRounds>& units, double confidence = 0.95);
std::optional<Interval> LiftInterval(const std::vector<PairCounts>& cases, double confidence = 0.95);

// Interval for the mean of a population of values from `least` to `most`, from independent ones: the means that
// BoundedMeanTest doesn't reject on either side. Returns nothing without values.
std::optional<Interval> BoundedMeanInterval(std::vector<double> values, double least, double most,
                                            double confidence = 0.95);

// Interval for the mean lift over new cases like these; `lifts` has the mean difference of each unit over all rounds.
// Returns nothing for fewer than six.
//
// A BoundedMeanInterval. It allows for kinds of cases that are too rare to be in
// the sample, whatever the number of rounds: equal means don't give an interval of width 0. Coverage: docs/verdicts.md.
std::optional<Interval> NewCasesInterval(const std::vector<double>& lifts, double confidence = 0.95);
inline constexpr int kFewestCasesForNew = 6;

// Student's t interval for a mean (Student, Biometrika 6 (1908) 1). Returns nothing for fewer than two values.
std::optional<Interval> MeanInterval(const std::vector<double>& values, double confidence = 0.95);

}  // namespace upskill
