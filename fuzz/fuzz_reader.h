// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/format.h"

namespace upskill {

// What the fuzzers do with one input; they abort where an invariant is broken (partners, messages, UTF-8).
// Reads it as this format, then redacts and digests what came out.
void FuzzReader(TraceFormat format, std::string_view input);

// The same with the format left to detection, strictly and leniently.
void FuzzDetected(std::string_view input);

// Redacts the text with a token on a line of its own in the middle, which must be gone.
void FuzzRedaction(std::string_view input);

}  // namespace upskill
