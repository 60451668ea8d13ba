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

// The request that tells the model what is wrong with its answer.
ChatRequest RepairOf(ChatRequest request, const std::string& answer, const std::string& problem) {
  constexpr std::size_t kIdDigits = 40;
  // Another question needs another ID, which is the same each time.
  if (!request.id.empty()) request.id = Sha256Hex(request.id + "\n" + answer).substr(0, kIdDigits);
  request.messages.push_back({Role::kAssistant, answer});
  request.messages.push_back({Role::kUser, RepairRequest(problem, *request.answer_schema)});
  return request;
}

}  // namespace

Result<ChatResponse> GenerateStructured(Model& model, ChatRequest request, const StopFlag* stop,
                                        const RequestMeter& meter) {
  CHECK(request.answer_schema.has_value());
  ChatResponse sum;
  sum.cost_usd = 0.0;
  for (int repair = 0;; ++repair) {
    if (meter.before) RETURN_IF_ERROR(meter.before(request));
    Result<ChatResponse> answer = Generate(model, request, stop);
    if (meter.after) meter.after(answer);
    ASSIGN_OR_RETURN(ChatResponse response, std::move(answer));
    AddUp(sum, response);
    response.usage = sum.usage;
    response.cost_usd = sum.cost_usd;
    response.seconds = sum.seconds;
    Result<Json> parsed = AnswerJson(response.text, *request.answer_schema);
    if (parsed) {
      response.parsed = *std::move(parsed);
      return response;
    }
    if (response.stop != StopReason::kEnd) return response;
    const std::string& problem = parsed.error().message;
    if (repair == kMaxRepairs) {
      response.schema_problem = problem.substr(0, problem.find('\n'));  // without the text that it quotes
      return response;
    }
    request = RepairOf(std::move(request), response.text, problem);
  }
}

}  // namespace upskill
