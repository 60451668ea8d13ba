// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "model/chat.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

// The JSON value in a model's answer that fits the schema: the whole answer, a fenced block of it, or what stands
// between its first and last bracket. The error (kInput) says what is wrong with the likeliest one.
Result<Json> AnswerJson(std::string_view text, const Json& schema);

// Tells a model that has no structured output of its own about the request's answer_schema, at the end of the last
// message, where that is not said already.
void AddSchemaInstruction(ChatRequest& request);

// What to tell a model whose answer didn't fit, the schema included.
std::string RepairRequest(const std::string& problem, const Json& schema);

}  // namespace upskill
