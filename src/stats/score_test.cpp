// SPDX-License-Identifier: Apache-2.0
#include "stats/score_test.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "stats/bounded_mean.h"
#include "stats/quantile.h"

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

// `degrees` of freedom; 0: the variance is not estimated.
double Tail(double excess, double variance, double degrees) {
  if (variance <= 0.0) return 0.0;  // even if all that varies were lost, the sum would be smaller
  const double z = (excess - kScoreCorrection) / std::sqrt(variance);
  if (degrees <= 0.0) return boost::math::cdf(boost::math::complement(boost::math::normal(), z));
  return boost::math::cdf(boost::math::complement(boost::math::students_t(degrees), z));
}

struct Moments {
  double sum = 0.0;  // of wins − losses, expected
  double variance = 0.0;
};

// The moments of the sum if in each unit, wins were `odds` times as likely and losses 1/odds times, compared with ties.
Moments TiltedBy(double odds, const std::vector<ScoreUnit>& units) {
  Moments moments;
  for (const ScoreUnit& one : units) {
    const double wins = one.wins * odds;
    const double losses = one.losses / odds;
    const double all = wins + losses + std::max(0.0, one.rounds - one.wins - one.losses);
    if (all <= 0.0) continue;
    const double mean = (wins - losses) / all;
    const double changes = one.wins + one.losses;
    const double square = changes > 0.0 ? one.squares / changes * (wins + losses) / all : 0.0;
    moments.sum += one.rounds * mean;
    moments.variance += one.rounds * std::max(0.0, square - mean * mean);
  }
  return moments;
}

// The variance of the sum, unit by unit, under the most likely rates with this expectation of the sum: an exponential
// tilt of what each unit showed. 0 if what varies can't bring the sum there.
double RestrictedByUnit(const std::vector<ScoreUnit>& units, double expected) {
  constexpr int kHalvings = 50;
  double low = -40.0;  // logarithms of the odds
  double high = 0.0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (TiltedBy(std::exp(middle), units).sum > expected ? high : low) = middle;
  }
  const Moments reached = TiltedBy(std::exp(low), units);
  return reached.sum <= expected + 1e-6 * std::max(1.0, std::abs(expected)) ? reached.variance : 0.0;
}

// How far the third central moment of the sum is below 0: at most its variance, which it nearly reaches where wins
// seldom fail. Unbiased from three rounds on. Two show no skew within a unit, so that it is taken from how many of the
// units with wins never vary.
double NegativeSkew(const std::vector<ScoreUnit>& units, double variance) {
  double moment = 0.0;
  double of_wins = 0.0;  // the variance of units with more wins than losses
  double varying = 0.0;  // their number
  double steady = 0.0;
  for (const ScoreUnit& one : units) {
    const double changes = one.wins + one.losses;
    if (changes <= 0.0) continue;
    const double n = one.rounds;
    const double mean = (one.wins - one.losses) / n;
    if (n >= 3.0) {
      const double share = one.squares / changes;  // 1, but for units of several cases
      const double cubes = n * mean * share * share;
      moment += (cubes - 3.0 * mean * one.squares + 2.0 * n * mean * mean * mean) * n * n / ((n - 1.0) * (n - 2.0));
    } else if (mean > 0.0) {
      const double within = one.squares - n * mean * mean;
      (within > 0.0 ? varying : steady) += 1.0;
      of_wins += 2.0 * within;
    }
  }
  if (steady > 0.0) moment -= of_wins * steady / (steady + varying);
  return std::clamp(-moment, 0.0, variance);
}

// With variance that wasn't seen, z being the result: z √(known + z²/2) + skew/known · (2z² + 1)/6 = excess, where
// known is variance + kUnseenVariance. The second term is the first of the Edgeworth expansion of a studentized mean
// (P. Hall, The Bootstrap and Edgeworth Expansion, 1992): a sum that is high because rare failures are missing varies
// too little.
double WithUnseenVariance(double excess, double variance, double skew) {
  const double known = variance + kUnseenVariance;
  double low = 0.0;
  double high = std::sqrt(std::sqrt(known * known + 2.0 * excess * excess) - known);  // without the skew
  for (int i = 0; i < 40 && skew > 0.0; ++i) {
    const double z = 0.5 * (low + high);
    (z * std::sqrt(known + 0.5 * z * z) + skew / known * (2.0 * z * z + 1.0) / 6.0 > excess ? high : low) = z;
  }
  return boost::math::cdf(boost::math::complement(boost::math::normal(), high));
}

// Values outside [−1, 1], which a judge's correction may give, widen the range.
double TailOfOneRound(const std::vector<ScoreUnit>& units, double bound) {
  double widest = 1.0;
  std::vector<double> values;
  values.reserve(units.size());
  for (const ScoreUnit& one : units) {
    if (one.rounds > 0.0) values.push_back(one.wins - one.losses);
  }
  for (const double value : values) widest = std::max(widest, std::abs(value));
  for (double& value : values) value /= widest;
  return BoundedMeanTest(values, bound / widest);
}

double TailOf(const PairMoments& moments, const std::vector<ScoreUnit>& units, double bound) {
  const bool one_round = moments.degrees <= 0.0;
  if (one_round && units.size() < kManyForBoundedMean) return TailOfOneRound(units, bound);
  const double excess = moments.sum - moments.pairs * bound;
  if (excess <= kScoreCorrection) return excess <= 0.0 ? 1.0 : 0.5;
  const double pooled = Tail(excess, RestrictedVariance(moments, excess), moments.degrees);
  if (one_round) return pooled;
  const double scale = kDegreesPerPair * moments.pairs / moments.degrees;  // rounds / (rounds − 1)
  const double seen = scale * TiltedBy(1.0, units).variance;
  const double restricted = std::max(seen, scale * RestrictedByUnit(units, moments.pairs * bound));
  return std::max(
      {pooled, Tail(excess, restricted, moments.degrees), WithUnseenVariance(excess, seen, NegativeSkew(units, seen))});
}

// The largest bound that is rejected.
double LowerLimit(const PairMoments& moments, const std::vector<ScoreUnit>& units, double alpha) {
  double rejected = -1.0;
  double kept = moments.sum / moments.pairs;
  while (kept - rejected > 1e-7) {
    const double middle = 0.5 * (rejected + kept);
    (TailOf(moments, units, middle) <= alpha ? rejected : kept) = middle;
  }
  return rejected;
}

}  // namespace

std::vector<ScoreUnit> Mirrored(std::vector<ScoreUnit> units) {
  for (ScoreUnit& one : units) one = one.Mirrored();
  return units;
}

double ScoreTest(const std::vector<ScoreUnit>& units, double bound) {
  const PairMoments moments = MomentsOf(units);
  if (moments.pairs <= 0.0) return 1.0;
  return TailOf(moments, units, bound);
}

double ScoreTest(const std::vector<PairCounts>& cases, double bound) { return ScoreTest(UnitsOf(cases), bound); }

std::optional<Interval> ScoreInterval(const std::vector<ScoreUnit>& units, double confidence) {
  const PairMoments moments = MomentsOf(units);
  if (moments.pairs <= 0.0) return std::nullopt;
  const double alpha = 0.5 * (1.0 - confidence);
  const std::vector<ScoreUnit> mirrored = Mirrored(units);
  return Interval{LowerLimit(moments, units, alpha), -LowerLimit(MomentsOf(mirrored), mirrored, alpha)};
}

std::optional<Interval> ScoreInterval(const std::vector<PairCounts>& cases, double confidence) {
  return ScoreInterval(UnitsOf(cases), confidence);
}

}  // namespace upskill
