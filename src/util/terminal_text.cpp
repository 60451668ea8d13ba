// SPDX-License-Identifier: Apache-2.0
#include "util/terminal_text.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "util/text.h"

namespace upskill {

TerminalText TerminalText::Escape(std::string_view text) { return Trusted(SafeForTerminal(text)); }

TerminalText TerminalText::EscapeLine(std::string_view text) { return Trusted(SafeForTerminalLine(text)); }

TerminalText TerminalText::EscapeIndented(std::string_view text) {
  const std::string escaped = SafeForTerminal(text);
  std::string indented;
  for (const std::string_view line : SplitLines(escaped)) {
    const bool needs_indent = !indented.empty() && !line.empty() && !line.starts_with("  ");
    indented += fmt::format("{}{}\n", needs_indent ? "  " : "", line);
  }
  if (!escaped.ends_with('\n') && !indented.empty()) indented.pop_back();
  return Trusted(std::move(indented));
}

std::size_t TerminalText::columns() const { return DisplayColumns(text_); }

TerminalText TerminalText::Cut(std::size_t columns) const { return Trusted(CutToColumns(text_, columns)); }

}  // namespace upskill
