// SPDX-License-Identifier: Apache-2.0
#include "stats/interval.h"

#include <algorithm>
#include <cmath>

#include "stats/quantile.h"

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
  PairCounts total;
  double within = 0.0;  // sum of squared deviations of the differences from their case's mean
  for (const PairCounts& one : cases) {
    if (one.pairs() <= 0.0) continue;
    total += one;
    const double sum = one.wins - one.losses;
    within += one.wins + one.losses - sum * sum / one.pairs();
  }
  const double pairs = total.pairs();
  if (pairs <= 0.0) return std::nullopt;
  const double sum = total.wins - total.losses;
  const double critical = StudentCritical(confidence, 5.0 * pairs);
  if (pairs <= static_cast<double>(cases.size())) {  // one round: the variance within a case is unknown
    const double n = pairs + 2.0;
    const double center = sum / n;
    const double variance = (total.wins + total.losses + 2.0) / n - center * center;
    return Around(center, critical * std::sqrt(variance / n));
  }
  const double degrees = pairs - static_cast<double>(cases.size());
  const double variance = (within + 1.0) / (degrees + 1.0);
  return Around(sum / (pairs + 1.0), critical * std::sqrt(variance / (pairs + 1.0)));
}

std::optional<Interval> NewCasesInterval(const std::vector<double>& lifts, int rounds, double confidence) {
  if (lifts.size() < kFewestCasesForNew || rounds < 1) return std::nullopt;
  const auto n = static_cast<double>(lifts.size());
  const double pseudo = 2.0 / std::sqrt(static_cast<double>(rounds));
  const double sum = SumOf(lifts);
  const double squares = SumOfSquares(lifts, sum / n);
  const double variance = (squares + pseudo) / (n - 1.0 + pseudo);
  return Around(sum / (n + pseudo), StudentCritical(confidence, n - 1.0) * std::sqrt(variance / (n + pseudo)));
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
