// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/chat.h"
#include "util/json.h"
#include "util/result.h"

namespace upskill {

struct FittingAnswer {
  Json json;
  std::set<std::string> left_out;  // the first names of keys that the schema doesn't allow
};

// The JSON value in a model's answer that matches the schema: the whole answer, one of its fenced blocks, or the text
// from its first to its last bracket. Models add keys of their own: those that the schema doesn't allow are left out.
// The error (kInput) describes the problem with the likeliest of these.
Result<FittingAnswer> AnswerJson(std::string_view text, const Json& schema);

// Describes the request's answer_schema, for a model without structured output, at the end of the last message if it
// isn't there yet.
void AddSchemaInstruction(ChatRequest& request);

// The schema that AddSchemaInstruction has described at the end of a request's text; nothing if there is none.
std::optional<Json> SchemaAskedFor(std::string_view request);

// The message to a model whose answer didn't match, including the schema.
std::string RepairRequest(const std::string& problem, const Json& schema);

}  // namespace upskill
