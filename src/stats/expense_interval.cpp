// SPDX-License-Identifier: Apache-2.0
#include "stats/expense_interval.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "stats/quantile.h"

namespace upskill {

double MostOfOneAnswer(const std::vector<double>& values, const std::vector<double>& lengths, double max_length) {
  double most = 0.0;
  double longest = 0.0;
  std::optional<double> of_a_token;
  for (std::size_t i = 0; i < values.size(); ++i) {
    most = std::max(most, values[i]);
    longest = std::max(longest, lengths[i]);
    if (lengths[i] <= 0.0) continue;
    const double each = values[i] / lengths[i];
    of_a_token = std::min(of_a_token.value_or(each), each);
  }
  return most + std::max(0.0, max_length - longest) * of_a_token.value_or(0.0);
}

std::optional<Interval> ExpenseInterval(const std::vector<double>& values, double least, double most,
                                        double confidence) {
  if (values.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  double sum = 0.0;
  for (const double value : values) sum += value;
  double squares = 0.0;
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  const double half = StudentCritical(confidence, n - 1.0) * std::sqrt(squares / (n - 1.0) / n);
  const double missing = std::log(2.0 / (1.0 - confidence));
  return Interval{std::max(least, (sum + missing * least) / (n + missing) - half),
                  std::min(most, (sum + missing * most) / (n + missing) + half)};
}

std::optional<Interval> ExpenseRatioInterval(const std::vector<double>& a, const std::vector<double>& b, double most,
                                             double confidence) {
  if (a.size() < 2 || a.size() != b.size()) return std::nullopt;
  std::vector<double> excess(a.size());
  const auto interval_at = [&](double ratio) {
    for (std::size_t i = 0; i < a.size(); ++i) excess[i] = a[i] - ratio * b[i];
    return *ExpenseInterval(excess, -ratio * most, most, confidence);
  };
  constexpr double kHighest = 1e6;
  double above = 1.0;  // is too large
  while (interval_at(above).high >= 0.0) {
    if (above >= kHighest) return std::nullopt;
    above *= 2.0;
  }
  constexpr int kHalvings = 50;
  Interval ratio{0.0, 0.0};
  double rejected = above;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (ratio.high + rejected);
    (interval_at(middle).high < 0.0 ? rejected : ratio.high) = middle;
  }
  double kept = ratio.high;
  if (interval_at(0.0).low <= 0.0) return ratio;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (ratio.low + kept);
    (interval_at(middle).low > 0.0 ? ratio.low : kept) = middle;
  }
  return ratio;
}

}  // namespace upskill
