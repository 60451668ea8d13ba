// SPDX-License-Identifier: Apache-2.0
#include "verdict_exact.h"

#include <cstddef>
#include <cstdint>

#include "stats/sign_flip_sequence.h"

namespace upskill {
namespace {

constexpr double kNegligibleHistory = 1e-10;

// outcomes[differing][sum + differing]: the probability that `differing` pairs of a round differ and add up to `sum`.
using RoundOutcomes = std::vector<std::vector<double>>;

RoundOutcomes OutcomesOfRound(const std::vector<CaseRates>& cases) {
  RoundOutcomes outcomes(cases.size() + 1);
  for (std::size_t m = 0; m < outcomes.size(); ++m) outcomes[m].assign(2 * m + 1, 0.0);
  outcomes[0][0] = 1.0;
  std::size_t most = 0;
  for (const CaseRates& one : cases) {
    const double win = (1.0 - one.without) * one.with;
    const double loss = one.without * (1.0 - one.with);
    for (std::size_t m = most + 1; m-- > 0;) {
      for (std::size_t s = 0; s < outcomes[m].size(); ++s) {
        const double p = outcomes[m][s];
        outcomes[m + 1][s + 2] += p * win;
        outcomes[m + 1][s] += p * loss;
        outcomes[m][s] = p * (1.0 - win - loss);
      }
    }
    ++most;
  }
  return outcomes;
}

class Histories {
 public:
  Histories(const std::vector<CaseRates>& cases, int rounds) : outcomes_(OutcomesOfRound(cases)), rounds_(rounds) {}

  // `alive`: the probability of this history and of each sum, from −reach, without a rejection so far.
  double Helps(const SignFlipSequence& sequence, const std::vector<double>& alive) const {
    if (sequence.rounds() == rounds_) return 0.0;
    double helps = 0.0;
    for (std::size_t m = 0; m < outcomes_.size(); ++m) {
      std::vector<double> next(alive.size() + 2 * m, 0.0);
      for (std::size_t d = 0; d < outcomes_[m].size(); ++d) {
        const double p = outcomes_[m][d];
        if (p == 0.0) continue;
        for (std::size_t s = 0; s < alive.size(); ++s) next[s + d] += p * alive[s];
      }
      SignFlipSequence after = sequence;
      after.AddRound(std::vector<double>(m, 1.0));
      const std::int64_t first = after.critical().back() + after.reach();  // index of the first sum that rejects
      double left = 0.0;
      for (std::size_t s = 0; s < next.size(); ++s) {
        if (static_cast<std::int64_t>(s) >= first) {
          helps += next[s];
          next[s] = 0.0;
        }
        left += next[s];
      }
      if (left > kNegligibleHistory) helps += Helps(after, next);
    }
    return helps;
  }

 private:
  RoundOutcomes outcomes_;
  int rounds_;
};

}  // namespace

double ExactHelps(const std::vector<CaseRates>& cases, double alpha, const SpendingSchedule& schedule, int rounds) {
  return Histories(cases, rounds).Helps(SignFlipSequence(alpha, schedule), {1.0});
}

}  // namespace upskill
