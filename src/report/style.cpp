// SPDX-License-Identifier: Apache-2.0
#include "report/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace upskill {
namespace {

// The parameter of ANSI's "select graphic rendition".
const char* CodeOf(Tint tint) {
  switch (tint) {
    case Tint::kGood:
      return "32";
    case Tint::kBad:
      return "31";
    case Tint::kDim:
      return "2";
    case Tint::kBold:
      return "1";
  }
  return "0";
}

}  // namespace

TerminalText Tinted(const Style& style, Tint tint, const TerminalText& text) {
  if (!style.color) return text;
  return TerminalText::Format("\x1b[{}m{}\x1b[0m", CodeOf(tint), text);
}

std::string PercentText(double fraction) { return fmt::format("{:.0f} %", std::round(fraction * 100.0)); }

std::string Bar(double fraction, std::size_t cells) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(cells)));
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i) bar += i < filled ? "█" : "░";
  return bar;
}

}  // namespace upskill
