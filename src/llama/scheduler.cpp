// SPDX-License-Identifier: Apache-2.0
#include "llama/scheduler.h"

#include <algorithm>
#include <utility>

#include "util/invariant.h"
#include "util/log.h"

namespace upskill {

Error CancelledError() { return Error{ErrorKind::kCancelled, "cancelled"}; }

Scheduler::Scheduler(int slots, std::chrono::milliseconds patience)
    : patience_(patience), slots_(static_cast<std::size_t>(slots)) {
  CHECK(slots > 0);
}

Scheduler::~Scheduler() {
  CHECK(queue_.empty());
  CHECK(std::all_of(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.state == State::kFree; }));
}

void Scheduler::Submit(ChatRequest request, Model::Done done) {
  {
    const std::lock_guard lock(mutex_);
    promised_ = request.more_follows;
    queue_.push_back({std::move(request), std::move(done)});
  }
  wake_.notify_all();
}

void Scheduler::Cancel(Model::CancelScope scope) {
  std::deque<Waiting> dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(queue_);
    promised_ = false;
    withdraw_held_ = true;
    if (scope == Model::CancelScope::kRunning) aborted_ = true;
  }
  wake_.notify_all();
  for (const Waiting& waiting : dropped) waiting.done(CancelledError());
}

void Scheduler::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
}

Scheduler::Move Scheduler::Next() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (std::optional<Move> move = Decide()) {
      lock.unlock();
      if (move->action == Action::kForget) Finish(move->slot, CancelledError());
      return *std::move(move);
    }
    if (!promised_) {
      wake_.wait(lock);
    } else if (wake_.wait_for(lock, patience_) == std::cv_status::timeout && queue_.empty() && promised_) {
      promised_ = false;
      Log("llama", "a promised request did not arrive; evaluating the batch without it");
    }
  }
}

std::optional<Scheduler::Move> Scheduler::TryNext() {
  std::optional<Move> move;
  {
    const std::lock_guard lock(mutex_);
    move = Decide();
  }
  if (move && move->action == Action::kForget) Finish(move->slot, CancelledError());
  return move;
}

// Requires the mutex. A Cancel comes first: it must not affect requests submitted after it.
std::optional<Scheduler::Move> Scheduler::Decide() {
  if (stopping_) return Move{Action::kStop, 0, {}};
  if (std::exchange(withdraw_held_, false) && held_ && !aborted_) return Move{Action::kForget, *held_, {}};
  if (aborted_.exchange(false)) return Move{Action::kEndAll, 0, {}};
  if (held_) {
    if (!std::exchange(room_may_be_free_, false)) return Move{Action::kEvaluate, 0, {}};
    return Move{Action::kTryAgain, *held_, {}};
  }
  const bool has_free_slot = running_ < slots_.size();
  if (has_free_slot && !queue_.empty()) {
    Waiting next = std::move(queue_.front());
    queue_.pop_front();
    const std::size_t slot = FreeSlot();
    slots_[slot] = {State::kBegun, std::move(next.done)};
    return Move{Action::kBegin, slot, std::move(next.request)};
  }
  if (has_free_slot && (promised_ || running_ == 0)) return std::nullopt;
  return Move{Action::kEvaluate, 0, {}};
}

std::size_t Scheduler::FreeSlot() const {
  const auto free = std::find_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.state == State::kFree; });
  CHECK(free != slots_.end());
  return static_cast<std::size_t>(free - slots_.begin());
}

void Scheduler::Admit(std::size_t slot) {
  CHECK(slots_[slot].state == State::kBegun);
  slots_[slot].state = State::kRunning;
  ++running_;
  if (held_ == slot) held_.reset();
}

void Scheduler::Hold(std::size_t slot) {
  CHECK(slots_[slot].state == State::kBegun);
  CHECK(running_ > 0);
  held_ = slot;
  room_may_be_free_ = false;
}

void Scheduler::Finish(std::size_t slot, Result<ChatResponse> answer) {
  CHECK(slots_[slot].state != State::kFree);
  if (slots_[slot].state == State::kRunning) --running_;
  if (held_ == slot) held_.reset();
  room_may_be_free_ = true;
  const Model::Done done = std::exchange(slots_[slot], {}).done;
  done(std::move(answer));
}

}  // namespace upskill
