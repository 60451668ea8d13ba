// SPDX-License-Identifier: Apache-2.0
#include "skill/formats/trigger_queries.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace upskill {

namespace fs = std::filesystem;

bool HasTriggerQueries(const Json& list) {
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), [](const Json& one) {
           return FindMember(one, "query") != nullptr && FindMember(one, "should_trigger") != nullptr;
         });
}

ConvertedSuite ConvertTriggerQueries(const Json& list, const std::vector<std::size_t>& lines, const fs::path& file) {
  ConvertedSuite suite;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const bool should = JsonGet(list[i], "should_trigger", false);
    Json made = {{"id", fmt::format("query-{}", i + 1)}, {"input", TextOf(list[i].at("query"))}};
    made["checks"] = Json::array({{{"type", "activates"}, {"expected", should}}});
    const std::string place = i < lines.size() ? fmt::format("{}:{}", file.string(), lines[i]) : file.string();
    suite.cases.push_back({std::move(made), place, {}});
  }
  return suite;
}

}  // namespace upskill
