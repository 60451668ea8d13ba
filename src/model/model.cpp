// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <chrono>
#include <future>
#include <memory>

#include "model/answer_json.h"

namespace upskill {
namespace {

Result<ChatResponse> AskOnce(Model& model, ChatRequest request, const std::atomic<int>* stop) {
  // Shared with the model's thread, which may still be inside set_value when the answer is there already.
  const auto promise = std::make_shared<std::promise<Result<ChatResponse>>>();
  std::future<Result<ChatResponse>> answer = promise->get_future();
  request.more_follows = false;
  model.Start(std::move(request),
              [promise](Result<ChatResponse> response) { promise->set_value(std::move(response)); });
  constexpr std::chrono::milliseconds kLook{100};
  constexpr int kAtOnce = 2;
  for (bool given_up = false; answer.wait_for(kLook) != std::future_status::ready;) {
    if (given_up || stop == nullptr || stop->load() < kAtOnce) continue;
    model.Cancel(Model::CancelScope::kRunning);
    given_up = true;
  }
  return answer.get();
}

}  // namespace

double CostUsd(const Price& price, const Usage& usage) {
  constexpr double kMillion = 1e6;
  return (static_cast<double>(usage.input) * price.input + static_cast<double>(usage.cache_read) * price.cache_read +
          static_cast<double>(usage.cache_write) * price.cache_write +
          static_cast<double>(usage.output) * price.output) /
         kMillion;
}

Result<ChatResponse> Generate(Model& model, ChatRequest request, const std::atomic<int>* stop) {
  if (!request.answer_schema) return AskOnce(model, std::move(request), stop);
  Usage usage;
  std::optional<double> cost = 0.0;
  for (int repair = 0;; ++repair) {
    ASSIGN_OR_RETURN(ChatResponse response, AskOnce(model, request, stop));
    usage.Add(response.usage);
    cost = cost && response.cost_usd ? std::optional(*cost + *response.cost_usd) : std::nullopt;
    response.usage = usage;
    response.cost_usd = cost;
    if (!response.parsed.is_null()) return response;
    Result<Json> parsed = AnswerJson(response.text, *request.answer_schema);
    if (parsed) response.parsed = parsed.value();
    if (parsed || response.stop != StopReason::kEnd || repair == kMaxRepairs) return response;
    request.messages.push_back({Role::kAssistant, response.text});
    request.messages.push_back({Role::kUser, RepairRequest(parsed.error().message, *request.answer_schema)});
  }
}

}  // namespace upskill
