// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The JSON value in a model's answer that fits the schema: the whole answer, a fenced block of it, or what stands
// between its first and last bracket. The error (kInput) says what is wrong with the likeliest one.
Result<Json> AnswerJson(std::string_view text, const Json& schema);

// What to tell a model that has no structured output of its own.
std::string SchemaInstruction(const Json& schema);

// What to tell a model whose answer didn't fit.
std::string RepairRequest(const std::string& problem, const Json& schema);

}  // namespace upskill
