// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "cuda/ptx/memory_pool.h"
#include "cuda/ptx/word_claims.h"

namespace upskill::ptx {

// What the workers share that run the rest of a launch's blocks, each on a thread. Thread-safe.
struct BlockWorkers {
  BlockWorkers(std::uint32_t worker_count, std::uint64_t pool_bytes, std::uint64_t block_bytes_of_each)
      : count(worker_count), block_bytes(block_bytes_of_each), pool(pool_bytes) {}

  std::uint32_t count;
  std::uint64_t block_bytes;  // of host memory that the running blocks of one worker may use
  MemoryPool pool;            // for claims, and what races are found by
  std::unique_ptr<WordClaims> claims;
  std::atomic<std::uint32_t> next_block{0};
  std::uint32_t blocks = 0;
  std::atomic<std::uint64_t> instructions{0};  // of threads, as of the workers' last looks at the budgets
  std::atomic<bool> failed{false};             // all are to stop, and nothing that they did counts

  // The next blocks, as the first and the number behind the last; none if the two are equal. Neighbours go to the same
  // worker, because they often use the same pages, and fewer at a time towards the end.
  std::pair<std::uint32_t, std::uint32_t> Deal() {
    constexpr std::uint32_t kMostAtOnce = 64;
    std::uint32_t first = next_block.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t size = std::clamp((blocks - first) / (count * 4), 1U, kMostAtOnce);
      const std::uint32_t end = first + std::min(size, blocks - first);
      if (first == end || next_block.compare_exchange_weak(first, end, std::memory_order_relaxed)) return {first, end};
    }
  }
};

}  // namespace upskill::ptx
