// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "eval/sample.h"
#include "util/result.h"

namespace upskill {

// A sample from its line of samples.jsonl: what ParseJson and SampleFromJson say of it, sooner.
Result<Sample> SampleFromLine(std::string_view line);

// The same for an answer in the very form in which the journal writes it, which is nearly every line; nothing for any
// other line, valid or not.
std::optional<Sample> PlainSampleFromLine(std::string_view line);

}  // namespace upskill
