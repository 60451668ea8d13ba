// SPDX-License-Identifier: Apache-2.0
#include "util/processors.h"

#include <sched.h>

#include <algorithm>

namespace upskill {

std::uint32_t AvailableProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

}  // namespace upskill
