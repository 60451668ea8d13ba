// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "model/chat.h"
#include "model/model.h"
#include "util/result.h"

namespace upskill {

Error CancelledError();

// Decides what an engine does next: which request gets which slot of its batch and when, whether a batch waits for
// promised requests, which requests a Cancel ends. Knows nothing about how answers are computed. Calls the `done` of
// every request exactly once.
//
// Requests start in the order in which they were submitted, each in the free slot with the lowest number, so equal
// requests submitted in equal order share equal batches. While a slot is free and a request is promised
// (ChatRequest::more_follows), no batch is evaluated; a promise that isn't kept is abandoned after a while.
//
// Submit, Cancel and Stop may be called by any thread, everything else by the engine's thread.
class Scheduler {
 public:
  static constexpr std::chrono::milliseconds kPatience{60'000};

  explicit Scheduler(int slots, std::chrono::milliseconds patience = kPatience);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  void Submit(ChatRequest request, Model::Done done);
  void Cancel(Model::CancelScope scope);
  void Stop();

  // Set while a Cancel of the running requests is pending: the batch being evaluated can be aborted.
  std::atomic<bool>& aborted() { return aborted_; }

  enum class Action {
    kBegin,     // prepare `request` and assign it to `slot`: Admit, Hold or Finish
    kTryAgain,  // there may be room now for the request held in `slot`: Admit, Hold or Finish
    kEvaluate,  // evaluate a batch of all running slots
    kForget,    // the request held in `slot` was cancelled and its `done` called
    kEndAll,    // fail every request that was started
    kStop,      // the same, and then no more
  };
  struct Move {
    Action action = Action::kStop;
    std::size_t slot = 0;
    ChatRequest request;  // of kBegin
  };

  // The next move; blocks until there is one.
  Move Next();
  // The next move if there is one now (for tests).
  std::optional<Move> TryNext();

  void Admit(std::size_t slot);  // its request is part of the batches from now on
  void Hold(std::size_t slot);   // no room for it until a running request ends; there must be one
  void Finish(std::size_t slot, Result<ChatResponse> answer);  // the slot becomes free

  bool AnyRunning() const { return running_ > 0; }
  bool IsFree(std::size_t slot) const { return slots_[slot].state == State::kFree; }

 private:
  enum class State { kFree, kBegun, kRunning };
  struct Slot {
    State state = State::kFree;
    Model::Done done;
  };
  struct Waiting {
    ChatRequest request;
    Model::Done done;
  };

  std::optional<Move> Decide();
  std::size_t FreeSlot() const;

  const std::chrono::milliseconds patience_;

  // Owned by the engine's thread.
  std::vector<Slot> slots_;
  std::size_t running_ = 0;
  std::optional<std::size_t> held_;  // started, waiting for room; no request overtakes it
  bool room_may_be_free_ = false;    // a request has ended since `held_` was last tried

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> queue_;          // guarded by mutex_
  bool promised_ = false;              // guarded by mutex_
  bool withdraw_held_ = false;         // guarded by mutex_
  bool stopping_ = false;              // guarded by mutex_
  std::atomic<bool> aborted_ = false;  // written under mutex_
};

}  // namespace upskill
