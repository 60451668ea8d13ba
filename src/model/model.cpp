// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <future>
#include <memory>

namespace upskill {

double CostUsd(const Price& price, const Usage& usage) {
  constexpr double kMillion = 1e6;
  return (static_cast<double>(usage.input) * price.input + static_cast<double>(usage.cache_read) * price.cache_read +
          static_cast<double>(usage.cache_write) * price.cache_write + static_cast<double>(usage.output) * price.output) /
         kMillion;
}

Result<ChatResponse> Generate(Model& model, ChatRequest request) {
  // Shared with the model's thread, which may still be inside set_value when the answer is there already.
  const auto promise = std::make_shared<std::promise<Result<ChatResponse>>>();
  std::future<Result<ChatResponse>> answer = promise->get_future();
  request.more_follows = false;
  model.Start(std::move(request), [promise](Result<ChatResponse> response) { promise->set_value(std::move(response)); });
  return answer.get();
}

}  // namespace upskill
