// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "trace/digest/digest_item.h"
#include "trace/trace.h"

namespace upskill {

// A trace without a choice: everything that was said and done, in order, with whole outputs, and the final content of
// each changed file once, after the last event. Pairs of error and fix follow the success. The items' texts are set.
// What is left out: repeated outputs (said in their place) and records of unknown kind; with `repeats_once`, also runs
// of lines in outputs that an earlier output or a file's final content has (ShownLines).
std::vector<DigestItem> TranscriptOf(const Trace& trace, std::size_t trace_index, bool repeats_once = false);

}  // namespace upskill
