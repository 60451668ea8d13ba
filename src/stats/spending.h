// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace upskill {

// How a sequential test spends its error probability over rounds: the fraction of alpha that may be spent by the end of
// each round (K. K. G. Lan and D. L. DeMets, Biometrika 70 (1983) 659).
//
// Most of it is spent over the planned rounds. Plans of up to ten rounds are mostly run to the end, so their first
// rounds get little (t^1.5), and looking early costs hardly any power. Longer plans are mostly those that may stop when
// decided, so their first rounds get a little more than the last (t^0.8), and large lifts are found soon. A reserve is
// kept for rounds beyond: half of it for as many rounds again as were planned, a quarter for twice as many after those,
// and so on. It is larger for short plans, which are often pilots: 0.3 of alpha for a single round, 0.1 from five
// rounds on. So a pilot costs less power (12 cases, 40 → 65 %, five rounds: 77 % without a pilot, 70 % after one of a
// single round). The schedule doesn't depend on how many more rounds are asked for later, nor when, so that a test
// stays valid however often its maximum is raised.
class SpendingSchedule {
 public:
  // `one_may_be_all`: further rounds may turn out to be copies of the first (at temperature 0), so half of what is
  // planned is spent on the first round.
  explicit SpendingSchedule(int planned_rounds, bool one_may_be_all = false);

  double Until(int round) const;  // cumulative, below 1; `round` from 1
  int planned_rounds() const { return planned_; }
  bool one_may_be_all() const { return one_may_be_all_; }

  double reserve() const;  // fraction of alpha

  static constexpr double kReserve = 0.1;       // from five planned rounds on, and where one may be all
  static constexpr double kReserveOfOne = 0.3;  // of a single planned round

 private:
  int planned_;
  bool one_may_be_all_;
};

// A look at which a test may reject that is made only a few times.
struct ScheduledLook {
  int round = 0;       // after this round, from 1
  double share = 0.0;  // of alpha
};

// Looks at the first, the middle and the last planned round, then each time the number of rounds has doubled; the
// shares add up to at most 1. `rounds`: looks after this round aren't listed.
std::vector<ScheduledLook> ScheduledLooks(int planned_rounds, int rounds);

}  // namespace upskill
