// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>

namespace upskill {

// The program's source of time; tests substitute their own. Thread-safe.
class Clock {
 public:
  using Steady = std::chrono::steady_clock::time_point;
  using Wall = std::chrono::system_clock::time_point;

  Clock() = default;
  virtual ~Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  virtual Steady Now() const = 0;
  virtual Wall WallNow() const = 0;

  // Waits until `changed` is notified or the time is `until`. May wake up spuriously, as condition variables do.
  virtual void WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, Steady until) const {
    changed.wait_until(lock, until);
  }
};

class SystemClock : public Clock {
 public:
  Steady Now() const override { return std::chrono::steady_clock::now(); }
  Wall WallNow() const override { return std::chrono::system_clock::now(); }
};

double SecondsBetween(Clock::Steady from, Clock::Steady to);

// "2026-11-21T10:12:33Z"
std::string UtcTimestamp(Clock::Wall time);
// "2026_11_21_10_12_33" in local time, the first part of a run's folder name.
std::string FolderTimestamp(Clock::Wall time);
// "0:18", "1:02:03"
std::string DurationText(double seconds);

}  // namespace upskill
