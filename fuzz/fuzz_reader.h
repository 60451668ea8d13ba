// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/format.h"

namespace upskill {

// What the fuzzers do with one input; they abort if an invariant is broken (partners, messages, UTF-8).
// Reads the input as this format, then redacts and digests the trace.
void FuzzReader(TraceFormat format, std::string_view input);

// The same with the detected format, strictly and leniently.
void FuzzDetected(std::string_view input);

// Redacts the text with a token inserted on a line of its own in the middle; the token must be gone afterwards.
void FuzzRedaction(std::string_view input);

}  // namespace upskill
