// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxYamlDepth = 200;

// The first document of a YAML text: scalars are strings, except unquoted true, false and null, also in capitals. Merge
// keys (<<) are ordinary keys. Errors: aliases that expand to more than ten times the document's size, nesting deeper
// than kMaxYamlDepth, a syntax error (with `name`, line and column).
Result<Json> ParseYaml(const std::string& text, const std::string& name);

// Whether something follows the first document of a text that ParseYaml reads.
bool HasMoreYamlDocuments(const std::string& text);

}  // namespace upskill
