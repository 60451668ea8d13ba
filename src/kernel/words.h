// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "util/text.h"

namespace upskill {

// ASCII, whatever the locale.
constexpr bool IsAsciiLower(char c) { return c >= 'a' && c <= 'z'; }
// Letters, digits and the underscore.
constexpr bool IsAsciiWord(char c) { return IsAsciiAlphanumeric(c) || c == '_'; }

template <typename List>
bool IsOneOf(std::string_view word, const List& list) {
  return std::find(std::begin(list), std::end(list), word) != std::end(list);
}

}  // namespace upskill
