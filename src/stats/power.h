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

// The sequential rule: look after every round, stop when decided or after `rounds`.
struct SequentialRule {
  int rounds = 20;
  double alpha = 0.05;    // of this student, after division among students
  double min_lift = 0.0;  // "helps" claims a lift above this
  double margin = 0.0;    // "no effect" claims a lift within ±margin; 0: this verdict is not considered
};

struct RuleOutcome {
  double helps = 0.0;  // fraction of simulated runs with this verdict
  double hurts = 0.0;
  double no_effect = 0.0;
  double mean_rounds = 0.0;     // until decided, or the maximum
  double standard_error = 0.0;  // of `helps`
};

// Runs the rule on simulated suites of these cases. The same seed gives the same numbers on every machine.
RuleOutcome SimulateRule(const std::vector<CaseRates>& cases, const SequentialRule& rule, int draws,
                         std::uint64_t seed);

// The smallest lift, in whole points, that the rule detects with this power on `cases` equal cases with pass rate
// `rate` without the skill. Returns nothing if even a lift to 1 isn't detected. Takes about log2(100) simulations.
std::optional<double> DetectableLift(int cases, double rate, const SequentialRule& rule, double power = 0.8,
                                     int draws = 1000, std::uint64_t seed = 1);

}  // namespace upskill
