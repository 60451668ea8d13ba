// SPDX-License-Identifier: Apache-2.0
#include "stats/clusters.h"

#include <unordered_map>

namespace upskill {

std::vector<double> ClusterMeans(const std::vector<double>& values, const std::vector<std::size_t>& cluster_of) {
  std::unordered_map<std::size_t, std::size_t> places;
  std::vector<double> means;  // first the sums
  std::vector<double> sizes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto [place, is_new] = places.emplace(cluster_of[i], means.size());
    if (is_new) {
      means.push_back(0.0);
      sizes.push_back(0.0);
    }
    means[place->second] += values[i];
    sizes[place->second] += 1.0;
  }
  for (std::size_t i = 0; i < means.size(); ++i) means[i] /= sizes[i];
  return means;
}

}  // namespace upskill
