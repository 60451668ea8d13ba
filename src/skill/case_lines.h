// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace upskill {

// The line (from 1) on which each element of a list starts, in text known to be valid JSON: the list under `key` of the
// outermost object, or the outermost list itself if `key` is empty.
std::vector<std::size_t> CaseLines(std::string_view text, std::string_view key);

}  // namespace upskill
