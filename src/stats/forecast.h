// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "stats/spending.h"

namespace upskill {

// What a sign-flip sequence has seen.
struct SequenceState {
  int rounds = 0;
  double sum = 0.0;        // of the units' changes
  double differing = 0.0;  // units with a change
};

// The number of further rounds after which half of the runs that look like this one so far will have decided: their
// lift is drawn from what this one may be, so large lifts decide early and small ones late. The differing units come
// at the rate seen so far. `helps_alpha`, `hurts_alpha`: error probabilities of the two tests; 0: not made. Nothing if
// it is more than MostForecastRounds.
std::optional<int> ForecastRounds(const SequenceState& state, const SpendingSchedule& schedule, double helps_alpha,
                                  double hurts_alpha);

// Eight times the rounds so far or planned, after `rounds` rounds.
int MostForecastRounds(int rounds, const SpendingSchedule& schedule);

// Whether both tests have a conditional power below 30 % to reject by round `last`: the probability, given the sum so
// far, if from now on the lift is the one that the rounds up to `last` were to detect with a power of 80 % (J. M.
// Lachin, Statistics in Medicine 24 (2005) 2747). By the normal approximation. Stopping then adds no false rejections.
bool IsFutile(const SequenceState& state, const SpendingSchedule& schedule, int last, double helps_alpha,
              double hurts_alpha);

}  // namespace upskill
