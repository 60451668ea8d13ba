// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "trace/format.h"

namespace upskill {

// What the fuzzer of a reader does with one input: reads it as this format, by detection, then redacts and digests
// what came out. Aborts where an invariant of a trace is broken (partners, messages, UTF-8).
void FuzzReader(TraceFormat format, std::string_view input);

}  // namespace upskill
