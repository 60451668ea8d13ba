// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "eval/journal/sample.h"
#include "util/result.h"

namespace upskill {

// A sample from its line of samples.jsonl: the same result as ParseJson and SampleFromJson, but faster.
Result<Sample> SampleFromLine(std::string_view line);

// The same for an answer in exactly the form that the journal writes, which is nearly every line; nothing for any other
// line, valid or not.
std::optional<Sample> PlainSampleFromLine(std::string_view line);

}  // namespace upskill
