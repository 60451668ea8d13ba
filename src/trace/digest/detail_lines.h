// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "trace/digest/digest_item.h"
#include "trace/trace.h"

namespace upskill {

// Lines of the traces that state a name or value (ClassOfLine) and don't occur in `shown`, as items of kind kFact: one
// for each file or command, with the lines in the order of its texts. The most important first, about `max_bytes` in
// all. Importance, by the byte: how rare the line's words are in the traces, then its class; more for names in
// capitals, for the final content of files and for what came late; less for lines that differ from many others only in
// names and numbers, for long ones and for those inside functions. With `others`, lines of no class follow where there
// is room.
std::vector<DigestItem> DetailLines(const std::vector<Trace>& traces, std::string_view shown, std::size_t max_bytes,
                                    bool others);

}  // namespace upskill
