// SPDX-License-Identifier: Apache-2.0
#include "stats/score_test.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <utility>

namespace upskill {
namespace {

constexpr double kDegreesPerPair = 3.0;  // of the variance within units, which is estimated from answers of 0 and 1

// What a test needs of the pairs, computed once.
struct PairMoments {
  double pairs = 0.0;
  double sum = 0.0;   // wins − losses
  double wins = 0.0;  // those that vary, scaled to an unbiased variance of `sum`
  double losses = 0.0;
  double degrees = 0.0;  // of freedom; 0: the variance within units is not estimated
};

PairMoments MomentsOf(const std::vector<ScoreUnit>& units) {
  PairMoments moments;
  double counted = 0.0;
  double rounds = 0.0;  // of all units, added up
  for (const ScoreUnit& one : units) {
    if (one.rounds <= 0.0) continue;
    counted += 1.0;
    rounds += one.rounds;
    moments.sum += one.wins - one.losses;
  }
  moments.pairs = rounds;
  const bool one_round = rounds <= counted;
  for (const ScoreUnit& one : units) {
    const double changes = one.wins + one.losses;
    if (changes <= 0.0) continue;
    const double sum = one.wins - one.losses;
    const double share = (one.squares - (one_round ? 0.0 : sum * sum / one.rounds)) / changes;
    moments.wins += share * one.wins;
    moments.losses += share * one.losses;
  }
  double scale = 1.0;
  if (!one_round) scale *= rounds / (rounds - counted);
  const double changes = scale * (moments.wins + moments.losses);
  if (changes > moments.pairs) scale *= moments.pairs / changes;
  moments.wins *= scale;
  moments.losses *= scale;
  if (!one_round) moments.degrees = kDegreesPerPair * (rounds - counted);
  return moments;
}

std::vector<ScoreUnit> UnitsOf(const std::vector<PairCounts>& cases) {
  std::vector<ScoreUnit> units;
  units.reserve(cases.size());
  for (const PairCounts& one : cases) units.push_back({one.pairs(), one.wins, one.losses, one.wins + one.losses});
  return units;
}

// The variance of the sum if its expectation were lower by `excess`: of a trinomial with these wins and losses among
// the pairs, by maximum likelihood under that condition.
double RestrictedVariance(const PairMoments& moments, double excess) {
  const double n = moments.pairs;
  const double mean = std::max(-1.0, (moments.wins - moments.losses - excess) / n);
  const double ties = std::max(0.0, n - moments.wins - moments.losses);
  // The chance of a loss is the larger root of a·p² + b·p + c.
  const double a = 2.0 * n;
  const double b = -(moments.wins + moments.losses) * (1.0 - mean) + 2.0 * (moments.losses + ties) * mean;
  const double c = -moments.losses * mean * (1.0 - mean);
  const double loss = (-b + std::sqrt(std::max(0.0, b * b - 4.0 * a * c))) / (2.0 * a);
  const double lowest = std::max(0.0, -mean);
  const double highest = 0.5 * (1.0 - mean);
  return n * (2.0 * std::clamp(loss, lowest, std::max(lowest, highest)) + mean - mean * mean);
}

double TailOf(const PairMoments& moments, double bound) {
  const double excess = moments.sum - moments.pairs * bound;
  if (excess <= kScoreCorrection) return excess <= 0.0 ? 1.0 : 0.5;
  const double variance = RestrictedVariance(moments, excess);
  if (variance <= 0.0) return 0.0;  // even if all that varies were lost, the sum would be smaller
  const double z = (excess - kScoreCorrection) / std::sqrt(variance);
  if (moments.degrees <= 0.0) return boost::math::cdf(boost::math::complement(boost::math::normal(), z));
  return boost::math::cdf(boost::math::complement(boost::math::students_t(moments.degrees), z));
}

// The largest bound that is rejected.
double LowerLimit(const PairMoments& moments, double alpha) {
  double rejected = -1.0;
  double kept = moments.sum / moments.pairs;
  while (kept - rejected > 1e-7) {
    const double middle = 0.5 * (rejected + kept);
    (TailOf(moments, middle) <= alpha ? rejected : kept) = middle;
  }
  return rejected;
}

PairMoments Mirrored(PairMoments moments) {
  std::swap(moments.wins, moments.losses);
  moments.sum = -moments.sum;
  return moments;
}

}  // namespace

double ScoreTest(const std::vector<ScoreUnit>& units, double bound) {
  const PairMoments moments = MomentsOf(units);
  if (moments.pairs <= 0.0) return 1.0;
  return TailOf(moments, bound);
}

double ScoreTest(const std::vector<PairCounts>& cases, double bound) { return ScoreTest(UnitsOf(cases), bound); }

std::optional<Interval> ScoreInterval(const std::vector<ScoreUnit>& units, double confidence) {
  const PairMoments moments = MomentsOf(units);
  if (moments.pairs <= 0.0) return std::nullopt;
  const double alpha = 0.5 * (1.0 - confidence);
  return Interval{LowerLimit(moments, alpha), -LowerLimit(Mirrored(moments), alpha)};
}

std::optional<Interval> ScoreInterval(const std::vector<PairCounts>& cases, double confidence) {
  return ScoreInterval(UnitsOf(cases), confidence);
}

}  // namespace upskill
