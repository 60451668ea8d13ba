// SPDX-License-Identifier: Apache-2.0
#pragma once

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

// Score interval for a pass rate. E. B. Wilson, JASA 22 (1927) 209; checked against R. G. Newcombe, Statistics in
// Medicine 17 (1998) 857. [0, 1] when total is 0.
Interval WilsonInterval(std::int64_t passed, std::int64_t total, double confidence = 0.95);

// Interval for the lift on exactly these cases: mean over cases of (pass rate with − pass rate without). One entry per
// case, all with the same number of rounds. Returns nothing if there are no pairs.
//
// The adjusted Wald interval of Bonett and Price (J. Educational and Behavioral Statistics 37 (2012) 479): one pseudo
// win and one pseudo loss are added to the pairs of a single round. With two or more rounds, the variance is that
// within cases (cases differ, but are fixed), with half of each pseudo pair. The quantile is Student's, with five
// degrees of freedom per pair; this number and the halves were chosen by simulation (docs/verdicts.md has the
// coverage).
std::optional<Interval> LiftInterval(const std::vector<PairCounts>& cases, double confidence = 0.95);

// Interval for the mean lift over new cases like these; `lifts` has one mean difference per case, each over `rounds`
// rounds. Returns nothing for fewer than six cases.
//
// Student's t interval on case means, with 1/sqrt(rounds) pseudo cases of +1 and the same number of −1, so that equal
// means don't give an interval of width 0 (with one round: Bonett and Price, as above). Coverage: docs/verdicts.md.
std::optional<Interval> NewCasesInterval(const std::vector<double>& lifts, int rounds, double confidence = 0.95);
inline constexpr int kFewestCasesForNew = 6;

// Student's t interval for a mean (Student, Biometrika 6 (1908) 1). Returns nothing for fewer than two values.
std::optional<Interval> MeanInterval(const std::vector<double>& values, double confidence = 0.95);

}  // namespace upskill
