// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "stats/power.h"
#include "stats/sign_flip_sequence.h"
#include "stats/spending.h"
#include "util/rng.h"

namespace upskill {

// Cases, some of which may have the same input: these get copies of one answer, and are one unit of evidence.
struct SimulatedSuite {
  std::vector<CaseRates> units;
  std::vector<int> copies;  // of each unit; empty: one each

  int CopiesOf(std::size_t unit) const { return copies.empty() ? 1 : copies[unit]; }
};

// Wins − losses of each unit in one round; with `drift` added to all rates.
std::vector<int> DrawRound(const SimulatedSuite& suite, Rng& rng, double drift = 0.0);

// Runs the sign-flip test, and tells after which round it said `helps` or `hurts` first (0: it didn't).
struct FirstWords {
  int helps = 0;
  int hurts = 0;
};
FirstWords RunSignFlips(const SimulatedSuite& suite, double alpha, const SpendingSchedule& schedule, int rounds,
                        Rng& rng, double drift = 0.0);

}  // namespace upskill
