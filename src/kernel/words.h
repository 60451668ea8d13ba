// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/text.h"

namespace upskill {

// ASCII, whatever the locale.
constexpr bool IsAsciiLower(char c) { return c >= 'a' && c <= 'z'; }
// Letters, digits and the underscore.
constexpr bool IsAsciiWord(char c) { return IsAsciiAlphanumeric(c) || c == '_'; }

}  // namespace upskill
