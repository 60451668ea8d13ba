// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace upskill {

inline constexpr std::size_t kMaxLineBreak = 240;

// Length of a line end and what surrounds it where a text was wrapped: spaces and a frame before it, indentation, a
// frame or a mark of quotation behind it. The line end is plain, after a shell's backslash, or `\n` inside a JSON
// string (with more backslashes if that is nested in another). 0 if `text` doesn't begin with one.
std::size_t LineBreakLength(std::string_view text);

}  // namespace upskill
