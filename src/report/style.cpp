// SPDX-License-Identifier: Apache-2.0
#include "report/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace upskill {

std::string Tinted(const Style& style, Tint tint, std::string_view text) {
  if (!style.color) return std::string(text);
  const char* code = "0";
  switch (tint) {
    case Tint::kGood: code = "32"; break;
    case Tint::kBad: code = "31"; break;
    case Tint::kDim: code = "2"; break;
    case Tint::kBold: code = "1"; break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
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
