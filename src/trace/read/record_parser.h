// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "util/json.h"

namespace upskill {

// Deeper nesting is an error: programs that write traces stay below 30 levels, and code that walks a value recursively
// must not overflow the stack.
inline constexpr std::size_t kMaxRecordDepth = 200;

// Why a record couldn't be parsed, and the byte offset from its start.
struct RecordFault {
  std::string reason;
  std::size_t offset = 0;
  bool is_limit = false;  // it may be JSON, but has too much of something
};

// Parses one record: RFC 8259, plus deviations that are common and unambiguous. Invalid UTF-8, NUL and lone surrogates
// (`\ud83d`) become U+FFFD, control characters are allowed in strings, NaN and Infinity are null. Not the library's
// parser, because that one holds a long string four times while reading it. A record with more values or keys than
// `limits` allow, or larger than the available memory, is a fault. Takes time in proportion to the record's size.
struct ParsedRecord {
  std::optional<Json> value;
  RecordFault fault;  // if there is no value
};
ParsedRecord ParseRecord(std::string_view text, const JsonLimits& limits = {});

// The longest prefix of a damaged document that is complete JSON once its open lists and objects are closed. Nothing if
// it has no complete member. `offset`: where the damage begins.
std::optional<std::string> CloseTruncatedJson(std::string_view text, std::size_t offset);

}  // namespace upskill
