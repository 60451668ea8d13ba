// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace upskill::ptx {

// A budget of host memory that several threads spend together. Thread-safe.
class MemoryPool {
 public:
  explicit MemoryPool(std::uint64_t bytes) : left_(bytes) {}

  // False if that much isn't left; then nothing is taken.
  bool Take(std::uint64_t bytes) {
    std::uint64_t left = left_.load(std::memory_order_relaxed);
    while (left >= bytes) {
      if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
    }
    return false;
  }

 private:
  std::atomic<std::uint64_t> left_;
};

}  // namespace upskill::ptx
