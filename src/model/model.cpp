// SPDX-License-Identifier: Apache-2.0
#include "model/model.h"

#include <utility>

#include "util/await.h"

namespace upskill {

double CostUsd(const Price& price, const Usage& usage) {
  constexpr double kMillion = 1e6;
  return (static_cast<double>(usage.input) * price.input + static_cast<double>(usage.cache_read) * price.cache_read +
          static_cast<double>(usage.cache_write) * price.cache_write +
          static_cast<double>(usage.output) * price.output) /
             kMillion +
         price.request;
}

std::optional<Price> KnownPrice(const ModelInfo& info) {
  if (!info.price && info.in_process) return Price{};
  return info.price;
}

Result<ChatResponse> Generate(Model& model, ChatRequest request, const StopFlag* stop, std::function<void()> on_tick) {
  constexpr int kAtOnce = 2;
  request.more_follows = false;
  AwaitHooks hooks;
  hooks.stopped = [stop] { return stop != nullptr && stop->load() >= kAtOnce; };
  hooks.cancel = [&model] { model.Cancel(Model::CancelScope::kRunning); };
  hooks.on_tick = std::move(on_tick);
  return Await<Result<ChatResponse>>([&](Model::Done done) { model.Start(std::move(request), std::move(done)); },
                                     hooks);
}

}  // namespace upskill
