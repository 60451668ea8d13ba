// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "stats/interval.h"

namespace upskill {

// What answers take: tokens, time, money. A few may take far more than all others (a model that doesn't stop), and a
// hundred answers may show none of them, so that Student's t interval would cover the mean in 38 % of the runs where
// 3 % of the answers are 60 times as long.

// What one answer may take at most: what the longest did, and for each output token that it could have had more, up to
// `max_length`, the least that any answer took for one. `lengths` are output tokens, 0 where they aren't known; both
// have the same size.
double MostOfOneAnswer(const std::vector<double>& values, const std::vector<double>& lengths, double max_length);

// Interval for the mean of independent values, each between `least` and `most`. Student's t interval (Biometrika 6
// (1908) 1) after adding ln(1/α) values at the bound, as many as may be missing with probability α: the rule of three
// (J. A. Hanley and A. Lippman-Hand, JAMA 249 (1983) 1743). Returns nothing for fewer than two values.
std::optional<Interval> ExpenseInterval(const std::vector<double>& values, double least, double most,
                                        double confidence = 0.95);

// Interval for the ratio of the means of paired values from 0 to `most`, mean(a)/mean(b): the ratios r for which the
// ExpenseInterval of a − r·b contains 0. `a` and `b` have the same size. Returns nothing for fewer than two values, or
// where the ratio has no bound because b's mean could be 0.
std::optional<Interval> ExpenseRatioInterval(const std::vector<double>& a, const std::vector<double>& b, double most,
                                             double confidence = 0.95);

}  // namespace upskill
