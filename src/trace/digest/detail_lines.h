// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/digest/digest_item.h"
#include "trace/trace.h"

namespace upskill {

// Lines of the traces that state a name or value (ClassOfLine) and don't occur in `shown`, as items of kind kFact: one
// for each event or file, with the lines in order in its text. The most important first, about `max_bytes` in all.
// Importance: the line's class; a bonus for the final content of files and for what came late; a line is worth less
// the more lines there are that differ only in names and numbers, but less so for the classes that matter most.
std::vector<DigestItem> DetailLines(const std::vector<Trace>& traces, std::string_view shown, std::size_t max_bytes);

}  // namespace upskill
