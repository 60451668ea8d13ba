// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "trace/trace.h"
#include "util/json.h"
#include "util/terminal_text.h"

namespace upskill {

// What `trace show --json` prints; the keys are part of the interface. Unknown figures are null.
Json TraceShowJson(const Trace& trace);

// One event as `trace show --events --json` prints it, a line each.
Json EventJson(const Trace& trace, std::size_t event);

// What `trace show` prints for people; `redactions` as RedactionSummary gives it, or empty.
TerminalText TraceShowText(const Trace& trace, const std::string& redactions);

// One event on one line of at most `columns` columns.
TerminalText EventLine(const Trace& trace, std::size_t event, std::size_t columns);

// 1234567 → "1.2 M".
std::string ShortCount(long long number);

}  // namespace upskill
