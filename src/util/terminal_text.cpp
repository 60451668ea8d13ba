// SPDX-License-Identifier: Apache-2.0
#include "util/terminal_text.h"

#include "util/text.h"

namespace upskill {

TerminalText TerminalText::Escape(std::string_view text) { return Trusted(SafeForTerminal(text)); }

TerminalText TerminalText::EscapeLine(std::string_view text) { return Trusted(SafeForTerminalLine(text)); }

}  // namespace upskill
