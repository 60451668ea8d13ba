// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;
inline constexpr std::size_t kMaxYamlDepth = 200;

// What becomes of unquoted numbers: text, as they are written, or numbers as in JSON (YAML 1.2's core schema, decimal).
enum class YamlNumbers { kText, kNumbers };

// The first document of a YAML text: scalars are strings, except unquoted true, false and null, also in capitals, and
// numbers if `numbers` says so. Merge keys (<<) are ordinary keys. Errors: aliases that expand to more than ten times
// the document's size, nesting deeper than kMaxYamlDepth, a syntax error (with `name`, line and column).
Result<Json> ParseYaml(const std::string& text, const std::string& name, YamlNumbers numbers = YamlNumbers::kText);

// The line (from 1) on which each element of a list starts, in a text that ParseYaml reads: the list under `key` of the
// outermost mapping, or the outermost list itself if `key` is empty. Empty if there is no such list.
std::vector<std::size_t> YamlListLines(const std::string& text, const std::string& key);

// Whether something follows the first document of a text that ParseYaml reads.
bool HasMoreYamlDocuments(const std::string& text);

}  // namespace upskill
