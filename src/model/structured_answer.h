// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "model/chat.h"
#include "model/model.h"
#include "util/json.h"
#include "util/result.h"
#include "util/stop_flag.h"

namespace upskill {

// The line of a request that mustn't be answered by a chat that has seen earlier ones. To a model behind an API, every
// request is such a chat.
inline constexpr std::string_view kForNewChat = "(Answer this in a new chat, which has seen nothing of this task.)";

// Maximum number of times that GenerateStructured requests an answer again if it doesn't match the schema.
inline constexpr int kMaxRepairs = 2;

// How the requests for one structured answer are sent.
struct StructuredHooks {
  // Called with the keys that were left out of the answer because the schema doesn't allow them. May be empty.
  std::function<void(const std::set<std::string>& keys)> left_out;
  std::function<Result<ChatResponse>(const ChatRequest& request)> ask;
  // Called with every answer that doesn't match and will be requested again, before that, so that its caller can keep
  // what was paid for; an error ends the exchange.
  std::function<Status(const ChatRequest& request, const ChatResponse& answer)> before_repair;
};

// GenerateStructured with hooks in place of a model. Usage, cost and time are those of the last answer alone.
Result<ChatResponse> GenerateStructured(const StructuredHooks& hooks, ChatRequest request);

// Like Generate, for a request with an answer_schema; sets ChatResponse::parsed. The model enforces the schema as far
// as it can; every answer is validated here, and one that doesn't match is requested again up to kMaxRepairs times,
// with a description of the problem. The last answer is returned as is, with ChatResponse::schema_problem. So is one
// that ended because of its length, a refusal or the context window; `parsed` is then set only if it matches. Usage,
// cost and time are the sum over all answers.
Result<ChatResponse> GenerateStructured(Model& model, ChatRequest request, const StopFlag* stop = nullptr);

// For callers that don't wait for an answer: the JSON in it that matches the schema (kInput: what is wrong), and the
// request that tells the model of the problem with its answer to this one, which has an answer_schema.
Result<Json> StructuredJson(std::string_view answer, const Json& schema);
ChatRequest RepairOf(ChatRequest request, const std::string& answer, const std::string& problem);

}  // namespace upskill
