// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace upskill {

// A fraction as a whole number of hundredths, for every percentage and percentage point that people read: 62.5 is 63
// and −62.5 is −63, wherever it comes from. What sums of binary fractions lack of a half doesn't count.
inline double WholePercent(double fraction) {
  constexpr double kNoise = 1e-9;
  const double rounded = std::round(fraction * 100.0 + std::copysign(kNoise, fraction));
  return rounded == 0.0 ? 0.0 : rounded;  // not −0
}

}  // namespace upskill
