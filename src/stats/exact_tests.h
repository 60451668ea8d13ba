// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace upskill {

// Exact McNemar (sign) test: P(at least `wins` of wins + losses fair coins). One-sided, for a lift above 0.
// Q. McNemar, Psychometrika 12 (1947) 153.
double SignTest(std::int64_t wins, std::int64_t losses);

// Exact sign-flip test of "the case lifts are symmetric around 0": the probability that random signs give a sum at
// least as large (R. A. Fisher, The Design of Experiments, 1935, section 21). `sums`: wins − losses of each case.
// One-sided, for a lift above 0. Returns nothing if the sums are so large that the exact count would take more than
// 10^7 steps or lose precision.
std::optional<double> SignFlipTest(const std::vector<std::int64_t>& sums);

}  // namespace upskill
