// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "util/json.h"

namespace upskill {

// Deeper nesting is refused: writers of traces stay below 30 levels, and code that walks a value recursively must not
// run out of stack.
inline constexpr std::size_t kMaxRecordDepth = 200;

// Why a record could not be parsed, and where: bytes from its start.
struct RecordFault {
  std::string reason;
  std::size_t offset = 0;
};

// Parses one record: RFC 8259, and in addition what other programs write wrongly but unmistakably: invalid UTF-8, NUL
// and lone surrogates (`\ud83d`) become U+FFFD, control characters may stand in strings, NaN and Infinity are null. A
// parser of our own, because the library's holds a long string four times while it reads it.
struct ParsedRecord {
  std::optional<Json> value;
  RecordFault fault;  // when there is no value
};
ParsedRecord ParseRecord(std::string_view text);

// The longest front part of a damaged document that is whole JSON once its open lists and objects are closed. Nothing
// if not even one member is whole. `offset`: where the damage begins.
std::optional<std::string> CloseTruncatedJson(std::string_view text, std::size_t offset);

}  // namespace upskill
