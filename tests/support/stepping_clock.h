// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "util/clock.h"

namespace upskill {

// For tests: the time advances by `step` on every reading, so that nothing has to wait.
class SteppingClock : public Clock {
 public:
  explicit SteppingClock(std::chrono::milliseconds step = std::chrono::seconds(10)) : step_(step) {}

  Steady Now() const override { return now_ += step_; }
  Wall WallNow() const override { return wall_ += std::chrono::seconds(1); }

  void set_step(std::chrono::milliseconds step) { step_ = step; }

 private:
  std::chrono::milliseconds step_;
  mutable Steady now_{};
  mutable Wall wall_{std::chrono::seconds(1795255953)};  // 2026-11-21T10:12:33Z
};

}  // namespace upskill
