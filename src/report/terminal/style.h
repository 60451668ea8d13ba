// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "util/terminal_text.h"

namespace upskill {

// How text is laid out for the place it goes to.
struct Style {
  bool color = false;         // ANSI colours allowed
  std::size_t columns = 100;  // width of the terminal
};

enum class Tint { kGood, kBad, kDim, kBold };

// `text` in the tint when the style allows colours.
TerminalText Tinted(const Style& style, Tint tint, const TerminalText& text);

// Untrusted `text` on lines of at most `columns`, all but the first indented by `indent` columns, which the first
// already has.
TerminalText Wrapped(const std::string& text, std::size_t columns, std::size_t indent);

// "47 %", or "–" for nothing.
std::string PercentText(double fraction);

// A bar of `cells` places for a fraction, `█` and `░`.
std::string Bar(double fraction, std::size_t cells = 20);

}  // namespace upskill
