// SPDX-License-Identifier: Apache-2.0
#include "verdict_run.h"

namespace upskill {

std::vector<double> DrawRound(const SimulatedSuite& suite, Rng& rng, double drift) {
  std::vector<double> changes;
  changes.reserve(suite.units.size());
  for (std::size_t i = 0; i < suite.units.size(); ++i) {
    int sum = 0;
    for (int entry = 0; entry < suite.ApartOf(i); ++entry) {
      const bool without = rng.Uniform() < suite.units[i].without + drift;
      const bool with = rng.Uniform() < suite.units[i].with + drift;
      sum += (with ? 1 : 0) - (without ? 1 : 0);
    }
    changes.push_back(static_cast<double>(sum) / suite.ApartOf(i));
  }
  return changes;
}

FirstWords RunSignFlips(const SimulatedSuite& suite, double alpha, const SpendingSchedule& schedule, int rounds,
                        Rng& rng, double drift) {
  SignFlipSequence sequence(alpha, schedule);
  for (int round = 0; round < rounds; ++round) sequence.AddRound(DrawRound(suite, rng, drift * round));
  return {sequence.helps_round(), sequence.hurts_round()};
}

}  // namespace upskill
