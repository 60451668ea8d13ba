// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "stats/interval.h"

namespace upskill {

// Exact interval for a pass rate, each side at (1 − confidence)/2. C. J. Clopper and E. S. Pearson, Biometrika 26
// (1934) 404. Each limit also holds for the mean rate of cases that differ (W. Hoeffding, Ann. Math. Statist. 27 (1956)
// 713). [0, 1] when total is 0.
Interval ExactRateInterval(std::int64_t passed, std::int64_t total, double confidence = 0.95);

// The same for an effective sample of weighted items, whose numbers need not be whole (E. L. Korn and B. I. Graubard,
// Survey Methodology 24 (1998) 193).
Interval EffectiveRateInterval(double passed, double total, double confidence = 0.95);

}  // namespace upskill
