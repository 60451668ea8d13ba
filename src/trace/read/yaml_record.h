// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/read/record_parser.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;

// One YAML document as a record: scalars are texts, except unquoted true, false, null. Refuses what unfolds by aliases
// to more than it has bytes, and nesting deeper than kMaxRecordDepth. Errors name `name`, line and column.
Result<Json> ParseYamlRecord(const std::string& text, const std::string& name);

}  // namespace upskill
