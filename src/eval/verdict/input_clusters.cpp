// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/input_clusters.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace upskill {

std::vector<std::size_t> InputClusters(const Suite& suite, const std::vector<std::size_t>& cases) {
  const auto request = [&](std::size_t entry) {
    const Case& test_case = suite.cases[cases[entry]];
    return std::tie(test_case.input, test_case.files);
  };
  std::vector<std::size_t> order(cases.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return request(a) < request(b); });
  std::vector<std::size_t> first(cases.size());  // by entry: the first with its request
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool new_request = i == 0 || request(order[i - 1]) != request(order[i]);
    first[order[i]] = new_request ? order[i] : first[order[i - 1]];
  }
  std::vector<std::size_t> clusters(cases.size());
  std::size_t count = 0;
  for (std::size_t entry = 0; entry < cases.size(); ++entry) {
    clusters[entry] = first[entry] == entry ? count++ : clusters[first[entry]];
  }
  return clusters;
}

std::vector<std::size_t> FirstOfEachInput(const Suite& suite) {
  std::vector<std::size_t> all(suite.cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const std::vector<std::size_t> clusters = InputClusters(suite, all);
  std::vector<std::size_t> first;
  for (const std::size_t entry : all) {
    if (clusters[entry] == first.size()) first.push_back(entry);  // numbers are in the order of first appearance
  }
  return first;
}

}  // namespace upskill
