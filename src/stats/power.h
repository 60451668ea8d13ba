// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace upskill {

// The probabilities that a case passes without and with the skill.
struct CaseRates {
  double without = 0.0;
  double with = 0.0;
};

// The sequential rule: look after every round, stop when decided or after the planned rounds.
struct SequentialRule {
  int rounds = 20;
  double alpha = 0.05;    // of this student, after division among students
  double min_lift = 0.0;  // "helps" claims a lift above this
  double margin = 0.0;    // "no effect" claims a lift within ±margin; 0: this verdict is not considered
  int planned = 0;        // rounds over which alpha is spent, those first planned; 0: `rounds`
};

struct RuleOutcome {
  double helps = 0.0;  // fraction of simulated runs with this verdict
  double hurts = 0.0;
  double no_effect = 0.0;
  double mean_rounds = 0.0;     // until decided, or the maximum
  double standard_error = 0.0;  // of `helps`
};

// Runs the rule on simulated suites of these cases. The same seed gives the same numbers on every machine. If
// too many pairs are expected to differ for exact critical values, the values for the expected number are used.
RuleOutcome SimulateRule(const std::vector<CaseRates>& cases, const SequentialRule& rule, int draws,
                         std::uint64_t seed);

// What all of the following assume a lift to be: every case gains the same share of what it lacks. `baseline`: the pass
// rate of each case without the skill. The mean lift is at most that of cases that always pass with the skill.
std::vector<CaseRates> WithLift(const std::vector<double>& baseline, double lift);

// The smallest lift, in whole points, that the rule detects with this power. Returns nothing if even cases that always
// pass with the skill don't show it. Takes about log2(100) simulations.
std::optional<double> DetectableLift(const std::vector<double>& baseline, const SequentialRule& rule,
                                     double power = 0.8, int draws = 1000, std::uint64_t seed = 1);

// The number of rounds after which "no effect" is shown with this power if the skill changes nothing, by the normal
// approximation of the sum of wins and losses. Nothing if that takes more than `most` rounds.
std::optional<int> RoundsForNoEffect(const std::vector<double>& baseline, const SequentialRule& rule,
                                     double power = 0.8, int most = 10000);

// The number of cases like these that show with this power that the mean lift over all such cases is above 0, after
// rule.rounds rounds of each. Nothing if it takes more than `most` cases.
std::optional<int> CasesForGeneral(const std::vector<double>& baseline, double lift, const SequentialRule& rule,
                                   double power = 0.8, int draws = 200, std::uint64_t seed = 1, int most = 1000);

// Approximates BoundedMeanTest(values) to a few percent, in far less time: R. Lugannani and S. Rice, Advances in
// Applied Probability 12 (1980) 475.
double BoundedMeanSaddlepoint(const std::vector<double>& values);

}  // namespace upskill
