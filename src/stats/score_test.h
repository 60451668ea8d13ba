// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "stats/interval.h"
#include "stats/pair_counts.h"

namespace upskill {

// One unit over all rounds: a case, or the cases with one input, whose answers may be copies of each other.
struct ScoreUnit {
  double rounds = 0.0;
  double wins = 0.0;  // of its pairs, divided by their number in a round
  double losses = 0.0;
  double squares = 0.0;  // of wins − losses in each round

  ScoreUnit Mirrored() const { return {rounds, losses, wins, squares}; }
};
std::vector<ScoreUnit> Mirrored(std::vector<ScoreUnit> units);

// One-sided p-value of the hypothesis "the mean lift of exactly these cases is at most `bound`", for a number of rounds
// fixed in advance. All units have the same number of rounds. 1 without pairs.
//
// A score test: the variance is what the hypothesis implies, not what was seen, because few answers that vary would
// otherwise promise a precision that isn't there (48 answers without a loss don't rule out that 5 % are lost). As T.
// Tango's for paired proportions (Statistics in Medicine 17 (1998) 891), with two changes. From two rounds on, only
// wins and losses that vary within a unit count towards the variance, because the cases are fixed. And the difference
// is shrunk by kScoreCorrection of one unit, chosen by simulation (docs/contrasts.md has the error rates).
//
// One round of fewer than 200 units has an exact test instead, BoundedMeanTest: nothing is known of the variance within
// a unit, and the score test claims too much then (7 % instead of 5 with 12 units).
//
// From two rounds on, the p-value is the largest of three. Tango's variance takes the whole excess from the wins that
// vary, so it collapses if one side reliably breaks some units and only partly fixes others (14 % false claims instead
// of 5). The second p-value restricts the variance unit by unit: it uses the most likely rates whose mean is the bound.
// The third uses the variance that was seen, allows for some that wasn't, and corrects for the skew of rare failures.
double ScoreTest(const std::vector<ScoreUnit>& units, double bound);
double ScoreTest(const std::vector<PairCounts>& cases, double bound);  // each case is a unit
inline constexpr double kScoreCorrection = 0.25;

// The bounds that neither side's ScoreTest rejects at (1 − confidence)/2. Returns nothing if there are no pairs.
std::optional<Interval> ScoreInterval(const std::vector<ScoreUnit>& units, double confidence = 0.95);
std::optional<Interval> ScoreInterval(const std::vector<PairCounts>& cases, double confidence = 0.95);

}  // namespace upskill
