// SPDX-License-Identifier: Apache-2.0
#include "stats/near_best.h"

#include <algorithm>
#include <numeric>

namespace upskill {

double NearBestAlpha(std::size_t choices, double alpha) {
  return choices < 2 ? alpha : alpha / static_cast<double>(choices - 1);
}

std::vector<bool> NearBest(const std::vector<double>& p_values, double alpha) {
  const std::size_t choices = p_values.size();
  std::vector<std::size_t> order(choices);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> near(choices, false);
  for (std::size_t i = 0; i < choices; ++i) {
    const std::size_t true_at_most = std::max<std::size_t>(std::min(choices - i, choices - 1), 1);
    if (p_values[order[i]] > alpha / static_cast<double>(true_at_most)) break;
    near[order[i]] = true;
  }
  return near;
}

}  // namespace upskill
