// SPDX-License-Identifier: Apache-2.0
#include "llama/thread_governor.h"

#include <algorithm>

namespace upskill {
namespace {

constexpr double kMinBatchSeconds = 0.005;  // shorter batches say little
constexpr double kMinShare = 0.8;           // of the processor time of threads without competition
constexpr double kMaxRestSeconds = 30.0;

}  // namespace

void ThreadGovernor::SetMost(int most) {
  if (most == most_) return;
  most_ = current_ = most;
}

void ThreadGovernor::Record(double wall_seconds, double processor_seconds) {
  if (current_ < most_) {
    rest_seconds_ -= wall_seconds;
    if (rest_seconds_ <= 0.0) current_ = most_;
    return;
  }
  if (current_ == 1 || wall_seconds < kMinBatchSeconds) return;
  if (processor_seconds >= kMinShare * wall_seconds * current_) {
    next_rest_seconds_ = std::max(2.0, next_rest_seconds_ * 0.9);
    return;
  }
  current_ = std::clamp(static_cast<int>(processor_seconds / wall_seconds), 1, most_ - 1);
  rest_seconds_ = next_rest_seconds_;
  next_rest_seconds_ = std::min(kMaxRestSeconds, next_rest_seconds_ * 2.0);
}

}  // namespace upskill
