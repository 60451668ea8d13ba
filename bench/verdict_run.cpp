// SPDX-License-Identifier: Apache-2.0
#include "verdict_run.h"

namespace upskill {

std::vector<int> DrawRound(const SimulatedSuite& suite, Rng& rng, double drift) {
  std::vector<int> sums;
  sums.reserve(suite.units.size());
  for (std::size_t i = 0; i < suite.units.size(); ++i) {
    const bool without = rng.Uniform() < suite.units[i].without + drift;
    const bool with = rng.Uniform() < suite.units[i].with + drift;
    sums.push_back(suite.CopiesOf(i) * ((with ? 1 : 0) - (without ? 1 : 0)));
  }
  return sums;
}

FirstWords RunSignFlips(const SimulatedSuite& suite, double alpha, const SpendingSchedule& schedule, int rounds,
                        Rng& rng, double drift) {
  SignFlipSequence sequence(alpha, schedule);
  for (int round = 0; round < rounds; ++round) sequence.AddRound(DrawRound(suite, rng, drift * round));
  return {sequence.helps_round(), sequence.hurts_round()};
}

}  // namespace upskill
