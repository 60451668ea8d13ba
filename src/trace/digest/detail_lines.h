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
// Importance, by the byte: the line's class; how rare its words are in the traces; a bonus for the final content of
// files and for what came late; less for a line that differs from many others only in words that are common, and for
// statements inside functions.
std::vector<DigestItem> DetailLines(const std::vector<Trace>& traces, std::string_view shown, std::size_t max_bytes);

}  // namespace upskill
