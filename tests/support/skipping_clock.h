// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "util/clock.h"

namespace upskill {

// For testing waits: nothing really waits, the time jumps to the end of the wait. While the clock is held, it stands
// still, so that everything due earlier can happen first. Thread-safe.
class SkippingClock : public Clock {
 public:
  Steady Now() const override { return Steady(std::chrono::nanoseconds(now_ns_.load())); }
  Wall WallNow() const override { return Wall(std::chrono::seconds(1795255953)); }  // 2026-11-21T10:12:33Z

  void WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Steady until) const override {
    if (held_) {
      changed.wait_for(lock, std::chrono::milliseconds(1));
      return;
    }
    const std::int64_t until_ns = std::chrono::nanoseconds(until.time_since_epoch()).count();
    now_ns_ = std::max(now_ns_.load(), until_ns);
    lock.unlock();  // lets others run, as a real wait would
    lock.lock();
  }

  void Hold() { held_ = true; }
  void LetGo() { held_ = false; }

 private:
  std::atomic<bool> held_ = false;
  mutable std::atomic<std::int64_t> now_ns_ = 0;
};

}  // namespace upskill
