// SPDX-License-Identifier: Apache-2.0
#include "stats/drift.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace upskill {
namespace {

constexpr double kMostSteps = 1e7;

// One case: how many rounds it passed, and the sum of their numbers.
struct RankSum {
  std::size_t rounds = 0;
  std::size_t passes = 0;
  std::size_t sum = 0;

  std::size_t least() const { return passes * (passes - 1) / 2; }  // the first rounds
  std::size_t range() const { return passes * (rounds - passes); }
  double mean() const { return static_cast<double>(passes) * (static_cast<double>(rounds) - 1.0) / 2.0; }
  double variance() const {
    const auto n = static_cast<double>(rounds);
    const auto c = static_cast<double>(passes);
    return c * (n - c) * (n + 1.0) / 12.0;
  }
};

// The cases whose outcomes differ; the others have only one possible sum.
std::vector<RankSum> RankSums(const std::vector<CaseSeries>& cases) {
  std::vector<RankSum> sums;
  for (const CaseSeries& series : cases) {
    RankSum one;
    one.rounds = series.size();
    for (std::size_t round = 0; round < series.size(); ++round) {
      if (!series[round]) continue;
      ++one.passes;
      one.sum += round;
    }
    if (one.passes > 0 && one.passes < one.rounds) sums.push_back(one);
  }
  return sums;
}

// Steps of the exact distribution: of each case's own, and of the convolution of all.
double StepsOf(const std::vector<RankSum>& sums) {
  double steps = 0.0;
  double width = 1.0;
  for (const RankSum& one : sums) {
    const auto range = static_cast<double>(one.range() + 1);
    steps += static_cast<double>(one.rounds * one.passes) * range + width * range;
    width += range - 1.0;
  }
  return steps;
}

// Probabilities of the sums, less the least one: the coefficients of the Gaussian binomial (n choose c)_q over their
// total. Built one round at a time: f(n, c) = f(n−1, c) + q^(n−c) f(n−1, c−1), as probabilities.
std::vector<double> Distribution(const RankSum& one) {
  std::vector<std::vector<double>> by_passes(one.passes + 1);
  by_passes[0] = {1.0};
  for (std::size_t n = 1; n <= one.rounds; ++n) {
    for (std::size_t c = std::min(n, one.passes); c >= 1; --c) {
      const double taken = static_cast<double>(c) / static_cast<double>(n);  // that the last round is one of the c
      std::vector<double> next(c * (n - c) + 1, 0.0);
      for (std::size_t s = 0; s < by_passes[c].size() && n > c; ++s) next[s] += (1.0 - taken) * by_passes[c][s];
      for (std::size_t s = 0; s < by_passes[c - 1].size(); ++s) next[s + n - c] += taken * by_passes[c - 1][s];
      by_passes[c] = std::move(next);
    }
  }
  return by_passes[one.passes];
}

std::vector<double> Convolved(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> sums(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) sums[i + j] += a[i] * b[j];
  }
  return sums;
}

// The distribution is symmetric: the probability of a sum as far from the middle.
double ExactTail(const std::vector<RankSum>& sums) {
  std::vector<double> all = {1.0};
  std::size_t observed = 0;
  for (const RankSum& one : sums) {
    all = Convolved(all, Distribution(one));
    observed += one.sum - one.least();
  }
  const std::size_t nearest = std::min(observed, all.size() - 1 - observed);
  double tail = 0.0;
  for (std::size_t s = 0; s <= nearest; ++s) tail += all[s];
  return std::min(1.0, 2.0 * tail);
}

double NormalTail(const std::vector<RankSum>& sums) {
  double away = 0.0;
  double variance = 0.0;
  for (const RankSum& one : sums) {
    away += static_cast<double>(one.sum) - one.mean();
    variance += one.variance();
  }
  const double z = std::max(0.0, std::abs(away) - 0.5) / std::sqrt(variance);
  return std::erfc(z / std::sqrt(2.0));
}

}  // namespace

double DriftTest(const std::vector<CaseSeries>& cases) {
  const std::vector<RankSum> sums = RankSums(cases);
  if (sums.empty()) return 1.0;
  return StepsOf(sums) <= kMostSteps ? ExactTail(sums) : NormalTail(sums);
}

}  // namespace upskill
