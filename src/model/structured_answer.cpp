// SPDX-License-Identifier: Apache-2.0
#include "model/structured_answer.h"

#include <optional>
#include <string>
#include <utility>

#include "model/answer_json.h"
#include "util/hash.h"
#include "util/invariant.h"

namespace upskill {
namespace {

// Adds the usage of earlier answers to an answer.
void AddUp(ChatResponse& sum, const ChatResponse& response) {
  sum.usage.Add(response.usage);
  sum.cost_usd = sum.cost_usd && response.cost_usd ? std::optional(*sum.cost_usd + *response.cost_usd) : std::nullopt;
  sum.seconds += response.seconds;
}

}  // namespace

Result<Json> StructuredJson(std::string_view answer, const Json& schema) {
  ASSIGN_OR_RETURN(FittingAnswer fitting, AnswerJson(answer, schema));
  return std::move(fitting.json);
}

ChatRequest RepairOf(ChatRequest request, const std::string& answer, const std::string& problem) {
  constexpr std::size_t kIdDigits = 40;
  // Another question needs another ID, which is the same each time.
  if (!request.id.empty()) request.id = Sha256Hex(request.id + "\n" + answer).substr(0, kIdDigits);
  request.messages.push_back({Role::kAssistant, answer});
  request.messages.push_back({Role::kUser, RepairRequest(problem, *request.answer_schema)});
  return request;
}

Result<ChatResponse> GenerateStructured(const StructuredHooks& hooks, ChatRequest request) {
  CHECK(request.answer_schema.has_value());
  for (int repair = 0;; ++repair) {
    ASSIGN_OR_RETURN(ChatResponse response, hooks.ask(request));
    Result<FittingAnswer> parsed = AnswerJson(response.text, *request.answer_schema);
    if (parsed) {
      if (hooks.left_out && !parsed->left_out.empty()) hooks.left_out(parsed->left_out);
      response.parsed = std::move(parsed->json);
      return response;
    }
    if (response.stop != StopReason::kEnd) return response;
    const std::string& problem = parsed.error().message;
    response.schema_problem = problem.substr(0, problem.find('\n'));  // without the text that it quotes
    if (repair == kMaxRepairs) return response;
    RETURN_IF_ERROR(hooks.before_repair(request, response));
    request = RepairOf(std::move(request), response.text, problem);
  }
}

Result<ChatResponse> GenerateStructured(Model& model, ChatRequest request, const StopFlag* stop) {
  ChatResponse sum;
  sum.cost_usd = 0.0;
  StructuredHooks hooks;
  hooks.ask = [&](const ChatRequest& each) {
    Result<ChatResponse> response = Generate(model, each, stop);
    if (response) AddUp(sum, *response);
    return response;
  };
  hooks.before_repair = [](const ChatRequest&, const ChatResponse&) { return Status(); };
  ASSIGN_OR_RETURN(ChatResponse response, GenerateStructured(hooks, std::move(request)));
  response.usage = sum.usage;
  response.cost_usd = sum.cost_usd;
  response.seconds = sum.seconds;
  return response;
}

}  // namespace upskill
