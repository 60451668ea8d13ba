// SPDX-License-Identifier: Apache-2.0
#include "stats/interval.h"

#include <algorithm>
#include <cmath>

#include "stats/bounded_mean.h"
#include "stats/quantile.h"
#include "stats/score_test.h"

namespace upskill {
namespace {

Interval Around(double center, double half_width) {
  return {std::max(-1.0, center - half_width), std::min(1.0, center + half_width)};
}

double SumOf(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) sum += value;
  return sum;
}

double SumOfSquares(const std::vector<double>& values, double around) {
  double sum = 0.0;
  for (const double value : values) sum += (value - around) * (value - around);
  return sum;
}

// The largest mean that the test rejects with this error probability.
double LowestMean(const std::vector<double>& values, double alpha) {
  double low = -1.0;
  double high = 1.0;
  while (high - low > 1e-5) {
    const double middle = 0.5 * (low + high);
    (BoundedMeanTest(values, middle) <= alpha ? low : high) = middle;
  }
  return low;
}

std::optional<Interval> OfOneRound(const std::vector<UnitRounds>& units, double confidence) {
  std::vector<ScoreUnit> rounds;
  rounds.reserve(units.size());
  for (const UnitRounds& unit : units) {
    if (unit.rounds > 0.0) rounds.push_back({1.0, std::max(0.0, unit.sum), std::max(0.0, -unit.sum), unit.squares});
  }
  return ScoreInterval(rounds, confidence);
}

}  // namespace

Interval WilsonInterval(std::int64_t passed, std::int64_t total, double confidence) {
  if (total <= 0) return {0.0, 1.0};
  const auto n = static_cast<double>(total);
  const double rate = static_cast<double>(passed) / n;
  const double z = NormalCritical(confidence);
  const double center = (rate + z * z / (2.0 * n)) / (1.0 + z * z / n);
  const double half = z * std::sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / (1.0 + z * z / n);
  return {passed == 0 ? 0.0 : center - half, passed == total ? 1.0 : center + half};
}

std::optional<Interval> LiftInterval(const std::vector<PairCounts>& cases, double confidence) {
  std::vector<UnitRounds> units;
  units.reserve(cases.size());
  for (const PairCounts& one : cases) units.push_back({one.pairs(), one.wins - one.losses, one.wins + one.losses});
  return LiftIntervalOfUnits(units, confidence);
}

std::optional<Interval> LiftIntervalOfUnits(const std::vector<UnitRounds>& units, double confidence) {
  double pairs = 0.0;
  double sum = 0.0;
  double variance = 0.0;  // of the sum
  double rounds = 0.0;
  for (const UnitRounds& unit : units) {
    if (unit.rounds <= 0.0) continue;
    rounds = unit.rounds;
    pairs += unit.rounds;
    sum += unit.sum;
    const double within = unit.squares - unit.sum * unit.sum / unit.rounds;  // sum of squared deviations
    if (rounds > 1.0) variance += within * rounds / (rounds - 1.0);
  }
  if (pairs <= 0.0) return std::nullopt;
  if (rounds <= 1.0) return OfOneRound(units, confidence);  // the variance within a case is unknown
  const double critical = StudentCritical(confidence, 5.0 * pairs);
  const double unseen = kUnseenVariance + 0.5 * critical * critical;
  return Around(sum / pairs, critical * std::sqrt(variance + unseen) / pairs);
}

std::optional<Interval> BoundedMeanInterval(std::vector<double> values, double least, double most, double confidence) {
  if (values.empty()) return std::nullopt;
  const double center = 0.5 * (least + most);
  const double scale = 0.5 * (most - least);
  for (double& value : values) value = std::clamp((value - center) / scale, -1.0, 1.0);
  std::vector<double> mirrored = values;
  for (double& value : mirrored) value = -value;
  const double tail = 0.5 * (1.0 - confidence);
  return Interval{center + scale * LowestMean(values, tail), center - scale * LowestMean(mirrored, tail)};
}

std::optional<Interval> NewCasesInterval(const std::vector<double>& lifts, double confidence) {
  if (lifts.size() < kFewestCasesForNew) return std::nullopt;
  return BoundedMeanInterval(lifts, -1.0, 1.0, confidence);
}

std::optional<Interval> MeanInterval(const std::vector<double>& values, double confidence) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double mean = SumOf(values) / n;
  const double error = std::sqrt(SumOfSquares(values, mean) / (n - 1.0) / n);
  const double half = StudentCritical(confidence, n - 1.0) * error;
  return Interval{mean - half, mean + half};
}

}  // namespace upskill
