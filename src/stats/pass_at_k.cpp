// SPDX-License-Identifier: Apache-2.0
#include "stats/pass_at_k.h"

#include <algorithm>
#include <numeric>

#include "stats/bounded_mean.h"
#include "stats/interval.h"

namespace upskill {
namespace {

using OfCase = std::optional<double> (*)(std::int64_t n, std::int64_t c, std::int64_t k);

std::optional<Interval> IntervalOf(const std::vector<double>& values) {
  if (values.size() < kFewestCasesForNew) return std::nullopt;
  if (values.size() < kManyForBoundedMean) return BoundedMeanInterval(values, 0.0, 1.0);
  const std::optional<Interval> interval = MeanInterval(values);
  return Interval{std::max(0.0, interval->low), std::min(1.0, interval->high)};
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
