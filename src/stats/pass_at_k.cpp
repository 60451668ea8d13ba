// SPDX-License-Identifier: Apache-2.0
#include "stats/pass_at_k.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "stats/quantile.h"

namespace upskill {
namespace {

using OfCase = std::optional<double> (*)(std::int64_t n, std::int64_t c, std::int64_t k);

// Student's t interval for the mean of values in [0, 1], with a pseudo case of 0 and one of 1.
std::optional<Interval> IntervalOf(const std::vector<double>& values) {
  if (values.size() < kFewestCasesForNew) return std::nullopt;
  const auto n = static_cast<double>(values.size());
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  double squares = 0.5;  // those of the pseudo cases from 1/2
  for (const double value : values) squares += (value - sum / n) * (value - sum / n);
  const double center = (sum + 1.0) / (n + 2.0);
  const double half = StudentCritical(0.95, n - 1.0) * std::sqrt(squares / (n + 1.0) / (n + 2.0));
  return Interval{std::max(0.0, center - half), std::min(1.0, center + half)};
}

std::optional<CaseMean> MeanOver(const std::vector<CaseAnswers>& cases, std::int64_t k, OfCase estimate) {
  if (cases.empty()) return std::nullopt;
  std::vector<double> values;
  for (const CaseAnswers& one : cases) {
    const std::optional<double> of_case = estimate(one.answered, one.passed, k);
    if (!of_case) return std::nullopt;
    values.push_back(*of_case);
  }
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  return CaseMean{sum / static_cast<double>(values.size()), IntervalOf(values)};
}

}  // namespace

std::optional<double> PassAtK(std::int64_t n, std::int64_t c, std::int64_t k) {
  const std::optional<double> none = PassAllK(n, n - c, k);  // all k fail
  if (!none) return std::nullopt;
  return 1.0 - *none;
}

std::optional<double> PassAllK(std::int64_t n, std::int64_t c, std::int64_t k) {
  if (k < 1 || k > n || c < 0 || c > n) return std::nullopt;
  if (c < k) return 0.0;
  // C(c, k)/C(n, k) is symmetric in k and n − c: use the product with fewer factors.
  const std::int64_t factors = std::min(k, n - c);
  const std::int64_t taken = std::max(k, n - c);
  double product = 1.0;
  for (std::int64_t i = 0; i < factors; ++i) product *= static_cast<double>(n - taken - i) / static_cast<double>(n - i);
  return product;
}

std::optional<CaseMean> MeanPassAtK(const std::vector<CaseAnswers>& cases, std::int64_t k) {
  return MeanOver(cases, k, PassAtK);
}

std::optional<CaseMean> MeanPassAllK(const std::vector<CaseAnswers>& cases, std::int64_t k) {
  return MeanOver(cases, k, PassAllK);
}

}  // namespace upskill
