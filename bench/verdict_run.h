// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "stats/power.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "util/rng.h"

namespace upskill {

// Distinct inputs, each a unit of evidence. Cases with the same input that get copies of one answer, and are checked in
// the same way, change together: any number of them is the same as one.
struct SimulatedSuite {
  std::vector<CaseRates> units;
  std::vector<int> apart;  // cases of each unit that change by themselves; empty: one each

  int ApartOf(std::size_t unit) const { return apart.empty() ? 1 : apart[unit]; }
};

// The change of each unit in one round; with `drift` added to all rates.
std::vector<double> DrawRound(const SimulatedSuite& suite, Rng& rng, double drift = 0.0);

// Runs the sign-flip test, and tells after which round it said `helps` or `hurts` first (0: it didn't).
struct FirstWords {
  int helps = 0;
  int hurts = 0;
};
FirstWords RunSignFlips(const SimulatedSuite& suite, double alpha, const SpendingSchedule& schedule, int rounds,
                        Rng& rng, double drift = 0.0);

}  // namespace upskill
