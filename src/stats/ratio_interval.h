// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "stats/interval.h"

namespace upskill {

// Interval for the ratio of the means of paired values, mean(a)/mean(b): the ratios r for which Student's t test
// doesn't reject "the mean of a − r·b is 0". E. C. Fieller, J. Royal Statistical Society B 16 (1954) 175. `a` and `b`
// have the same size. Returns nothing for fewer than two values, or where the interval is not bounded because b's mean
// could be 0.
std::optional<Interval> RatioInterval(const std::vector<double>& a, const std::vector<double>& b,
                                      double confidence = 0.95);

}  // namespace upskill
