// SPDX-License-Identifier: Apache-2.0
#include "report/terminal/style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "util/percent.h"
#include "util/text.h"

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

TerminalText Wrapped(const std::string& text, std::size_t columns, std::size_t indent) {
  constexpr std::size_t kLeast = 20;
  const std::size_t room = columns > indent + kLeast ? columns - indent : kLeast;
  const std::string line = TerminalText::EscapeLine(text).text();
  std::string out;
  std::size_t used = 0;
  for (std::size_t from = 0; from < line.size();) {
    std::size_t space = line.find(' ', from);
    while (space < line.size() && line.compare(space, 2, " %") == 0) space = line.find(' ', space + 1);  // a number's
    space = std::min(space, line.size());
    const std::string word = line.substr(from, space - from);
    const std::size_t wide = DisplayColumns(word);
    if (used > 0 && used + 1 + wide > room) {
      out += "\n" + std::string(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += wide;
    from = space + 1;
  }
  return TerminalText::Trusted(std::move(out));
}

std::string PercentText(double fraction) { return fmt::format("{:.0f} %", WholePercent(fraction)); }

std::string Bar(double fraction, std::size_t cells) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(cells)));
  std::string bar;
  for (std::size_t i = 0; i < cells; ++i) bar += i < filled ? "█" : "░";
  return bar;
}

}  // namespace upskill
