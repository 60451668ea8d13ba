// SPDX-License-Identifier: Apache-2.0
#include "stats/forecast.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "stats/sign_flip_sequence.h"
#include "stats/walk.h"

namespace upskill {
namespace {

constexpr int kRates = 9;               // quantiles of the probability that a unit goes up
constexpr double kMostSteps = 600.0;    // of a walk; with more units, a step stands for several
constexpr double kDetectable = 0.8416;  // quantile of the normal distribution at 0.8
constexpr double kUnlikely = 0.3;

// The walk of units up to the horizon, each a step of length 1. Sums are in these steps.
struct CoarseWalk {
  double scale = 1.0;      // a step stands for scale² units that differ
  std::vector<int> steps;  // by round
  std::int64_t sum = 0;    // after the rounds so far
};

CoarseWalk MakeCoarse(const SequenceState& state, int horizon) {
  CoarseWalk walk;
  const double rate = state.differing / state.rounds;
  walk.scale = std::max(1.0, std::sqrt(rate * horizon / kMostSteps));
  const double steps_per_round = rate / (walk.scale * walk.scale);
  std::int64_t total = 0;
  std::int64_t seen = 0;
  for (int round = 1; round <= horizon; ++round) {
    const auto until = static_cast<std::int64_t>(std::llround(steps_per_round * round));
    walk.steps.push_back(static_cast<int>(until - total));
    total = until;
    if (round == state.rounds) seen = total;
  }
  walk.sum =
      std::clamp(std::llround(state.sum / walk.scale), -static_cast<long long>(seen), static_cast<long long>(seen));
  if ((walk.sum - seen) % 2 != 0) walk.sum += walk.sum > 0 ? -1 : 1;  // a sum of `seen` signs
  return walk;
}

// The critical values with one error probability; a round that has passed can't reject any more.
std::vector<std::int64_t> CriticalValues(const CoarseWalk& coarse, double alpha, const SpendingSchedule& schedule) {
  SignFlipSequence sequence(alpha, schedule);
  for (const int steps : coarse.steps) sequence.AddRound(std::vector<double>(static_cast<std::size_t>(steps), 1.0));
  return sequence.critical();
}

// Probabilities that units go up, equally likely after what was seen.
std::vector<double> RatesUp(const SequenceState& state, double scale) {
  const double ups = std::max(0.0, 0.5 * (state.differing + state.sum));
  const double downs = std::max(0.0, 0.5 * (state.differing - state.sum));
  const boost::math::beta_distribution<> belief(ups + 0.5, downs + 0.5);
  std::vector<double> rates;
  rates.reserve(kRates);
  for (int i = 0; i < kRates; ++i) {
    const double up = boost::math::quantile(belief, (i + 0.5) / kRates);
    rates.push_back(std::clamp(0.5 + scale * (up - 0.5), 0.0, 1.0));  // of a step
  }
  return rates;
}

double NormalTail(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }

}  // namespace

int MostForecastRounds(int rounds, const SpendingSchedule& schedule) {
  return 9 * std::max(rounds, schedule.planned_rounds()) - rounds;
}

std::optional<int> ForecastRounds(const SequenceState& state, const SpendingSchedule& schedule, double helps_alpha,
                                  double hurts_alpha) {
  if (state.rounds < 1 || state.differing <= 0.0) return std::nullopt;
  const int horizon = state.rounds + MostForecastRounds(state.rounds, schedule);
  const CoarseWalk coarse = MakeCoarse(state, horizon);
  const std::vector<std::int64_t> helps = CriticalValues(coarse, helps_alpha, schedule);
  const std::vector<std::int64_t> hurts =
      hurts_alpha == helps_alpha ? helps : CriticalValues(coarse, hurts_alpha, schedule);
  std::vector<Walk> walks;
  walks.reserve(kRates);
  for (const double up : RatesUp(state, coarse.scale)) walks.emplace_back(up, coarse.sum);
  double decided = 0.0;
  for (int round = state.rounds; round < horizon; ++round) {
    const auto i = static_cast<std::size_t>(round);
    for (Walk& walk : walks) {
      decided += walk.UnitSteps(coarse.steps[i]);
      decided += walk.CutFrom(helps[i]) + walk.CutUpTo(-hurts[i]) + walk.CutNegligible();
    }
    if (decided >= 0.5 * kRates) return round + 1 - state.rounds;
  }
  return std::nullopt;
}

bool IsFutile(const SequenceState& state, const SpendingSchedule& schedule, int last, double helps_alpha,
              double hurts_alpha) {
  const int left = last - state.rounds;
  if (left < 1 || state.rounds < 2) return false;
  const double differing = std::max(state.differing, 1.0);  // what no unit has shown yet may still come
  const double sum = state.sum / std::sqrt(differing / state.rounds * last);  // in standard deviations of the last sum
  const double rest = static_cast<double>(left) / last;
  const auto likely = [&](double now, double alpha) {
    const double critical =
        boost::math::quantile(boost::math::complement(boost::math::normal(), alpha * schedule.Until(last)));
    const double expected = now + (critical + kDetectable) * rest;
    return NormalTail((critical - expected) / std::sqrt(rest)) >= kUnlikely;
  };
  return !likely(sum, helps_alpha) && !likely(-sum, hurts_alpha);
}

}  // namespace upskill
