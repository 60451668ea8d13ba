// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "trace/read/record_parser.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;

// One YAML document as a record: scalars are texts, except unquoted true, false and null. Errors: aliases that expand
// to more than the document's size, nesting deeper than kMaxRecordDepth, a syntax error (with `name`, line and column).
Result<Json> ParseYamlRecord(const std::string& text, const std::string& name);

}  // namespace upskill
