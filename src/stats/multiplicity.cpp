// SPDX-License-Identifier: Apache-2.0
#include "stats/multiplicity.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace upskill {

std::vector<bool> HolmRejects(const std::vector<double>& log_e_values, double alpha) {
  std::vector<std::size_t> order(log_e_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return log_e_values[a] > log_e_values[b]; });
  std::vector<bool> rejects(log_e_values.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (log_e_values[order[i]] < HolmThreshold(order.size(), i, alpha)) break;
    rejects[order[i]] = true;
  }
  return rejects;
}

std::vector<bool> HolmRejects(std::size_t count, double alpha, const RejectsAt& rejects) {
  std::vector<bool> rejected(count, false);
  std::size_t total = 0;
  for (bool more = true; more;) {
    more = false;
    const double level = HolmAlpha(count, total, alpha);
    for (std::size_t i = 0; i < count; ++i) {
      if (rejected[i] || !rejects(i, level)) continue;
      rejected[i] = true;
      ++total;
      more = true;
    }
  }
  return rejected;
}

std::vector<double> HolmAdjusted(const std::vector<double>& p_values, std::size_t count) {
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> adjusted(p_values.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double left = static_cast<double>(std::max(count, order.size()) - i);
    largest = std::max(largest, std::min(1.0, left * p_values[order[i]]));
    adjusted[order[i]] = largest;
  }
  return adjusted;
}

double HolmAlpha(std::size_t count, std::size_t rejected, double alpha) {
  return alpha / static_cast<double>(count > rejected ? count - rejected : 1);
}

double HolmThreshold(std::size_t count, std::size_t rejected, double alpha) {
  return -std::log(HolmAlpha(count, rejected, alpha));
}

double CandidateAlpha(int k, double alpha) {
  if (k <= 1) return alpha / 1.25;
  return alpha / (5.0 * static_cast<double>(k) * (static_cast<double>(k) - 1.0));
}

}  // namespace upskill
