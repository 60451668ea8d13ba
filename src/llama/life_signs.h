// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "util/written_tokens.h"

namespace upskill {

// What shows a watchdog that a thread loads a model or answers requests, and doesn't hang.
struct LifeSigns {
  std::atomic<std::uint64_t> beats = 0;  // grows as long as the thread gets on
  std::atomic<bool> waiting = false;     // for a request: it needn't grow
  WrittenTokens written;                 // of one of the answers

  void Beat() { beats.fetch_add(1, std::memory_order_relaxed); }
};

}  // namespace upskill
