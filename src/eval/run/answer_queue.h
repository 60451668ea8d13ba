// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "eval/journal/sample.h"
#include "eval/run/budget.h"
#include "eval/run/lane.h"
#include "model/chat.h"
#include "model/workspace.h"
#include "util/result.h"

namespace upskill {

// One answer on its way from a model's thread to the runner.
struct Answer {
  std::size_t student = 0;
  Attempt attempt;
  Budget::Reservation reservation;
  Result<ChatResponse> response;
  std::uint64_t by_turns = 0;  // the cell's number in TurnAdmission, which settles its turns; 0: `reservation` counts
};

// What a model that acts asks for (TurnMeter): room for a turn, or to settle one.
struct TurnEvent {
  std::uint64_t cell = 0;
  const Model* model = nullptr;
  bool is_first = false;  // of the cell's turns
  Spending worst;
  TurnMeter::Approved approved;
  std::uint64_t ticket = 0;
  std::optional<Result<ChatResponse>> settled;
};

// An answer whose checks have run beside the requests in flight.
struct CheckedSample {
  std::size_t student = 0;
  std::size_t cell = 0;
  Sample sample;
};

// What the judge has answered to one of its requests (Judging).
struct JudgeAnswer {
  std::size_t request = 0;
  Budget::Reservation reservation;
  Result<ChatResponse> response;
};

// Carries answers from the models' threads, and samples from those that check, to the runner. Shared by the runner and
// the requests in flight, so that it outlives both. Thread-safe.
class AnswerQueue {
 public:
  void Put(Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_.push_back(std::move(answer));
    wake_.notify_one();
  }

  void Put(CheckedSample checked) {
    const std::lock_guard lock(mutex_);
    checked_.push_back(std::move(checked));
    wake_.notify_one();
  }

  void Put(JudgeAnswer answer) {
    const std::lock_guard lock(mutex_);
    of_judge_.push_back(std::move(answer));
    wake_.notify_one();
  }

  void Put(TurnEvent event) {
    const std::lock_guard lock(mutex_);
    turns_.push_back(std::move(event));
    wake_.notify_one();
  }

  struct Arrivals {
    std::deque<Answer> answers;
    std::deque<CheckedSample> checked;
    std::deque<JudgeAnswer> of_judge;
    std::deque<TurnEvent> turns;
  };

  // All that is queued; waits up to `limit` for the first.
  Arrivals Take(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, limit,
                   [this] { return !answers_.empty() || !checked_.empty() || !of_judge_.empty() || !turns_.empty(); });
    return {std::exchange(answers_, {}), std::exchange(checked_, {}), std::exchange(of_judge_, {}),
            std::exchange(turns_, {})};
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Answer> answers_;
  std::deque<CheckedSample> checked_;
  std::deque<JudgeAnswer> of_judge_;
  std::deque<TurnEvent> turns_;
};

}  // namespace upskill
