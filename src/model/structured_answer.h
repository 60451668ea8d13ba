// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/chat.h"
#include "model/model.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// Requests that GenerateStructured may add to the first one until an answer fits the schema.
inline constexpr int kMaxRepairs = 2;

// Generate for a request with an answer_schema: sets ChatResponse::parsed. The model holds its answers to the schema as
// far as it can; every answer is checked here, and one that doesn't fit is requested again up to twice, with what is
// wrong with it. The last one is returned as it is, with ChatResponse::schema_problem, as is one that ended because of
// its length, a refusal or the context window: `parsed` is set only if it fits. Usage, cost and time are those of all
// answers.
Result<ChatResponse> GenerateStructured(Model& model, ChatRequest request, const StopFlag* stop = nullptr);

}  // namespace upskill
