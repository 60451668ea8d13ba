// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "util/result.h"

namespace upskill {

// Keeps the order of keys, so that files written back look as they were read.
using Json = nlohmann::ordered_json;

// Parses one JSON document. The error names `source:line:column`, shows the line and marks the place.
// A leading byte order mark and nesting deeper than 200 levels are refused.
Result<Json> ParseJson(std::string_view text, const std::string& source);

// Compact JSON; invalid UTF-8 in strings becomes U+FFFD instead of an exception.
std::string DumpJson(const Json& value);
// The same, indented by two spaces.
std::string DumpJsonIndented(const Json& value);

// Compact JSON with object keys sorted at every level: equal values give equal bytes (for hashing).
std::string CanonicalJson(const Json& value);

// "an object", "a string", … for messages.
std::string JsonTypeName(const Json& value);

// Lenient access for files of other programs: the value under `key` if it is there and of the type, else `fallback`.
template <typename T>
T JsonGet(const Json& object, const char* key, T fallback) {
  if (!object.is_object()) return fallback;
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  if constexpr (std::is_same_v<T, std::string>) {
    return found->is_string() ? found->template get<std::string>() : std::move(fallback);
  } else if constexpr (std::is_same_v<T, bool>) {
    return found->is_boolean() ? found->template get<bool>() : fallback;
  } else {
    return found->is_number() ? found->template get<T>() : fallback;
  }
}

// The value, or null where there is none.
template <typename T>
Json JsonOrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace upskill
