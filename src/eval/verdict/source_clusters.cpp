// SPDX-License-Identifier: Apache-2.0
#include "eval/verdict/source_clusters.h"

#include <string_view>
#include <unordered_map>

namespace upskill {

std::vector<std::size_t> SourceClusters(const Suite& suite, const std::vector<std::size_t>& cases) {
  std::unordered_map<std::string_view, std::size_t> first;  // by source
  std::vector<std::size_t> clusters;
  clusters.reserve(cases.size());
  for (const std::size_t i : cases) {
    const std::string& source = suite.cases[i].source;
    clusters.push_back(source.empty() ? i : first.emplace(source, i).first->second);
  }
  return clusters;
}

}  // namespace upskill
