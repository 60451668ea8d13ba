// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <utility>

namespace upskill {

// Callbacks of the waiting thread. Any of them may be null.
struct AwaitHooks {
  std::function<bool()> stopped;  // whether to cut the wait short; called ten times a second
  std::function<void()> cancel;   // called once, when `stopped` first returns true; the answer must still arrive
  std::function<void()> on_tick;  // called ten times a second
};

// Starts something that answers once, on any thread, and waits for the answer. `start` gets the callback that takes the
// answer; it may be called before `start` returns.
template <typename Answer>
Answer Await(const std::function<void(std::function<void(Answer)> done)>& start, const AwaitHooks& hooks) {
  // Shared with the answering thread, which may still be inside set_value when the answer has already arrived.
  const auto promise = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = promise->get_future();
  start([promise](Answer value) { promise->set_value(std::move(value)); });
  constexpr std::chrono::milliseconds kLook{100};
  bool cancelled = false;
  while (true) {
    if (!cancelled && hooks.stopped && hooks.stopped()) {
      cancelled = true;
      if (hooks.cancel) hooks.cancel();
    }
    if (answer.wait_for(kLook) == std::future_status::ready) return answer.get();
    if (hooks.on_tick) hooks.on_tick();
  }
}

}  // namespace upskill
