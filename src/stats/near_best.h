// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace upskill {

// Which of several choices are shown to be near the best of them. `p_values[i]` is that of "choice i is worse than the
// best by more than the margin", the largest over its contrasts with all others: whichever is the best, its contrast
// with that one is among them, so no selection by data enters. The probability of any false claim is at most alpha.
//
// Holm's procedure; since the best choice itself is near the best, at most all but one of the hypotheses are true,
// which the first threshold makes use of (J. P. Shaffer, JASA 81 (1986) 826).
std::vector<bool> NearBest(const std::vector<double>& p_values, double alpha);

// What the smallest p-value must not exceed: alpha/(choices − 1).
double NearBestAlpha(std::size_t choices, double alpha);

}  // namespace upskill
