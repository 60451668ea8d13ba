// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "skill/formats/readers.h"

namespace upskill {

namespace fs = std::filesystem;

bool HasTriggerQueries(const Json& list) {
  const auto has = [](const char* key) { return [key](const Json& one) { return FindMember(one, key) != nullptr; }; };
  return list.is_array() && !list.empty() && std::all_of(list.begin(), list.end(), has("query")) &&
         std::any_of(list.begin(), list.end(), has("should_trigger"));
}

Result<ConvertedSuite> ConvertTriggerQueries(const Json& list, const std::vector<std::size_t>& lines,
                                             const fs::path& file) {
  ConvertedSuite suite;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = i < lines.size() ? fmt::format("{}:{}", file.string(), lines[i]) : file.string();
    const Json& should = Member(list[i], "should_trigger");
    if (!list[i].at("query").is_string()) return InputError(place + ": \"query\" must be a text");
    if (!should.is_boolean()) return InputError(place + ": \"should_trigger\" must be true or false");
    Json made = {{"id", fmt::format("query-{}", i + 1)}, {"input", list[i].at("query")}};
    made["checks"] = Json::array({{{"type", "activates"}, {"expected", should}}});
    suite.cases.push_back({std::move(made), place, {}});
  }
  return suite;
}

}  // namespace upskill
