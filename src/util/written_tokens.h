// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace upskill {

// How far an answer is that a model on this machine is writing, for whoever shows progress. Thread-safe.
struct WrittenTokens {
  std::atomic<int> tokens = 0;  // 0: none yet
  std::atomic<int> most = 0;    // that it may have
};

}  // namespace upskill
