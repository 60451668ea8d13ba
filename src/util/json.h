// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "util/result.h"

namespace upskill {

// Keeps the order of keys, so that rewritten files look like the originals.
using Json = nlohmann::ordered_json;

// The size that a document may have. Parsing takes time in proportion to the bytes, and memory for them and for about
// 100 bytes per value.
struct JsonLimits {
  std::size_t bytes = std::size_t{256} << 20U;
  std::size_t values = 2'000'000;  // at all levels: strings, numbers, lists, objects, …
  std::size_t keys = 1'000'000;    // of one object
  std::size_t string_bytes = std::size_t{64} << 20U;
  ErrorKind error_kind = ErrorKind::kInput;  // of the error if one of them is exceeded
};

// Parses one JSON document. The error names `source:line:column` and repeats nothing of the text, which may be a file
// of keys that the program was led to. A leading byte order mark, nesting deeper than 200 levels and a document beyond
// the limits or the available memory are errors. Of equal keys, the last value counts.
Result<Json> ParseJson(std::string_view text, const std::string& source, const JsonLimits& limits = {});

// The same; the error also shows the line and marks the position. For texts of the user's own choice (util/json_file.h)
// and answers of models.
Result<Json> ParseJsonShowingLine(std::string_view text, const std::string& source, const JsonLimits& limits = {});

// Compact JSON; invalid UTF-8 in strings is replaced with U+FFFD instead of throwing an exception.
std::string DumpJson(const Json& value);
// The same, indented by two spaces.
std::string DumpJsonIndented(const Json& value);

// Compact JSON with object keys sorted at every level: equal values give equal bytes (for hashing).
std::string CanonicalJson(const Json& value);
// The same with whole numbers written alike, however they were written (1 and 1.0): equal texts for values that are
// equal in JSON schemas.
std::string CanonicalByValue(const Json& value);
// Not by ==, for which -1 and 2^64 - 1 are equal.
bool SameJson(const Json& a, const Json& b);

// "an object", "a string", … for messages.
std::string JsonTypeName(const Json& value);

// Lenient access, for files of other programs: the member `key` of an object; null if it is absent or `object` isn't an
// object.
const Json& Member(const Json& object, const char* key);
// The same as a pointer; nullptr also for a member that is null.
const Json* FindMember(const Json& object, const char* key);
Json* FindMember(Json& object, const char* key);
// The member if it is a string, else an empty string.
std::string StringAt(const Json& object, const char* key);

// The number as a T, without its fraction if T has none; nothing if T can't hold it.
template <typename T>
std::optional<T> NumberAs(const Json& number) {
  if constexpr (std::is_floating_point_v<T>) {
    return number.get<T>();
  } else {
    if (number.is_number_unsigned()) {
      const auto whole = number.get<std::uint64_t>();
      return std::in_range<T>(whole) ? std::optional<T>(static_cast<T>(whole)) : std::nullopt;
    }
    if (number.is_number_integer()) {
      const auto whole = number.get<std::int64_t>();
      return std::in_range<T>(whole) ? std::optional<T>(static_cast<T>(whole)) : std::nullopt;
    }
    const double whole = std::trunc(number.get<double>());
    // The first number above T's largest, which is a power of two.
    constexpr double kEnd = 2.0 * static_cast<double>(T{1} << (std::numeric_limits<T>::digits - 1));
    constexpr double kBegin = std::is_signed_v<T> ? -kEnd : 0.0;
    return whole >= kBegin && whole < kEnd ? std::optional<T>(static_cast<T>(whole)) : std::nullopt;
  }
}

// The value under `key` if it is present and has the type, else `fallback`: also for a number that T can't hold.
template <typename T>
T JsonGet(const Json& object, const char* key, T fallback) {
  const Json& member = Member(object, key);
  if constexpr (std::is_same_v<T, std::string>) {
    return member.is_string() ? member.template get<std::string>() : std::move(fallback);
  } else if constexpr (std::is_same_v<T, bool>) {
    return member.is_boolean() ? member.template get<bool>() : fallback;
  } else {
    return member.is_number() ? NumberAs<T>(member).value_or(fallback) : fallback;
  }
}

// The value, or null if there is none.
template <typename T>
Json JsonOrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace upskill
