// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include "eval/budget.h"
#include "eval/lane.h"
#include "model/chat.h"
#include "util/result.h"

namespace upskill {

// One answer on its way from a model's thread to the runner.
struct Answer {
  std::size_t student = 0;
  Attempt attempt;
  Budget::Reservation reservation;
  Result<ChatResponse> response;
};

// Carries answers from the models' threads to the runner. Shared by the runner and the requests in flight, so that it
// outlives both. Thread-safe.
class AnswerQueue {
 public:
  void Put(Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
    wake_.notify_one();
  }

  // All queued answers; waits up to `limit` for the first.
  std::deque<Answer> Take(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, limit, [this] { return !answers_.empty(); });
    return std::exchange(answers_, {});
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Answer> answers_;
};

}  // namespace upskill
