// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <limits>

#include "util/files.h"

namespace upskill {

// For tests: how much work a piece of code does. Counts instructions in user mode where the kernel and the machine
// allow it, which is nearly the same number every time; otherwise (virtual machines without counters) it measures the
// processor time of this thread. Never the wall clock.
class WorkMeter {
 public:
  WorkMeter() {
    perf_event_attr attributes{};
    attributes.type = PERF_TYPE_HARDWARE;
    attributes.size = sizeof attributes;
    attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
    attributes.exclude_kernel = 1;
    attributes.exclude_hv = 1;
    counter_ = Fd(static_cast<int>(::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0UL)));
    if (counter_.valid() && Count() == 0) counter_.Close();
  }

  bool counts_instructions() const { return counter_.valid(); }

  // The work of one call. Without a counter of instructions it is processor time, the lowest of `calls` calls.
  double Of(const std::function<void()>& work, int calls = 3) const {
    double least = std::numeric_limits<double>::infinity();
    for (int call = 0; call < (counts_instructions() ? 1 : calls); ++call) {
      const double before = Now();
      work();
      least = std::min(least, Now() - before);
    }
    return least;
  }

 private:
  std::uint64_t Count() const {
    std::uint64_t count = 0;
    return ::read(counter_.get(), &count, sizeof count) == sizeof count ? count : 0;
  }
  double Now() const {
    if (counts_instructions()) return static_cast<double>(Count());
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }

  Fd counter_;
};

inline constexpr double kMaxGrowthPerDoubling = 2.6;  // 2, and what n log n and the growth of caches may add

// The factor by which the work grows each time the input doubles: 2 for linear work, 4 for quadratic work. `prepare`
// makes the input of a size, and what it returns is measured. Of instructions, one doubling is enough; processor time
// is measured over three, because it also depends on caches and on the neighbours, and again if it looks too large.
inline double GrowthPerDoubling(std::size_t size, const std::function<std::function<void()>(std::size_t)>& prepare) {
  const WorkMeter meter;
  const int doublings = meter.counts_instructions() ? 1 : 3;
  const std::function<void()> small = prepare(size);
  const std::function<void()> large = prepare(size << static_cast<unsigned>(doublings));
  small();  // once before: what is made only once doesn't count
  double least = std::numeric_limits<double>::infinity();
  for (int attempt = 0; attempt < (meter.counts_instructions() ? 1 : 3) && least > kMaxGrowthPerDoubling; ++attempt)
    least = std::min(least, std::pow(meter.Of(large, 1) / meter.Of(small), 1.0 / doublings));
  return least;
}

}  // namespace upskill
