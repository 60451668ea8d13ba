// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace upskill {

// The mean of each cluster of values that aren't independent of each other (cases from one source), for procedures that
// take independent values in the same range. Each cluster counts once, however many values it has.
//
// `cluster_of`: parallel to `values`; equal numbers are one cluster. In the order in which the clusters first occur.
std::vector<double> ClusterMeans(const std::vector<double>& values, const std::vector<std::size_t>& cluster_of);

}  // namespace upskill
