// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "stats/power.h"
#include "stats/spending.h"

namespace upskill {

// The exact probability that the sign-flip test says `helps` within `rounds` rounds for independent cases with these
// rates, without random draws: goes through every history of the numbers of pairs that differ, on which the critical
// values depend, and carries the distribution of the sum along. For a few cases and rounds: there are
// (cases + 1)^rounds histories.
double ExactHelps(const std::vector<CaseRates>& cases, double alpha, const SpendingSchedule& schedule, int rounds);

}  // namespace upskill
