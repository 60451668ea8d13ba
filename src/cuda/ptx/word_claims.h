// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cuda/ptx/device_memory.h"
#include "cuda/ptx/memory_pool.h"

namespace upskill::ptx {

// Which worker may access which four bytes of global memory while the blocks of a launch run on several threads. A word
// is read by any workers, or written and read by one: whoever wants more than that is refused before the access, so
// that no two threads of the host ever race for it. Thread-safe; allocations mustn't come or go meanwhile.
class WordClaims {
 public:
  // For the allocations of `memory`, of which nobody has claimed anything. nullptr: the pool or the system hasn't that
  // much memory, which is a quarter of the allocations'.
  static std::unique_ptr<WordClaims> Make(DeviceMemory& memory, MemoryPool& pool);

 private:
  friend class WordClaimer;
  // A byte for each word, eight in a group: 0, or whose number it is, and in which way.
  struct Range {
    Allocation* allocation = nullptr;
    std::uint64_t first_group = 0;
  };
  struct Release {
    void operator()(std::uint64_t* groups) const { std::free(groups); }
  };
  const Range* RangeOf(std::uint64_t address) const;
  const Range& RangeOfGroup(std::uint64_t group) const;

  std::vector<Range> ranges_;  // by address, and so by group
  std::unique_ptr<std::uint64_t, Release> groups_;
};

// One worker's claims, and what the words that it writes held before. Not thread-safe; the claims outlive it.
class WordClaimer {
 public:
  static constexpr std::uint32_t kMostWorkers = 63;
  // `number`: from 1 to kMostWorkers, another for each worker. The pool is charged for what must be kept.
  WordClaimer(WordClaims& claims, std::uint32_t number, MemoryPool& pool);

  // Claims bytes of an allocation, at least one, from `at` on. False: another worker has claimed a word of them, or the
  // pool is spent. Then they mustn't be accessed.
  bool Claim(const Allocation& allocation, std::uint64_t at, std::uint64_t bytes, bool writes) {
    if (&allocation != allocation_ && !Find(allocation)) return false;
    const std::uint64_t first = at / 4;
    const std::uint64_t last = (at + bytes - 1) / 4;
    for (std::uint64_t group = first / 8; group <= last / 8; ++group) {
      std::uint64_t mask = ~std::uint64_t{0};
      if (group * 8 < first) mask <<= 8 * (first % 8);
      if (group * 8 + 7 > last) mask &= ~std::uint64_t{0} >> (8 * (7 - last % 8));
      const std::uint64_t seen = std::atomic_ref(groups_[group]).load(std::memory_order_relaxed);
      if (((seen ^ own_writes_) & mask) == 0) continue;
      if (!writes && (((seen ^ own_reads_) & mask) == 0 || ((seen ^ kReadBySeveral) & mask) == 0)) continue;
      if (!ClaimGroup(group, mask, seen, writes)) return false;
    }
    return true;
  }

  // Gives the words that this worker has claimed for writing the content and writers that they had before. To be called
  // when no worker runs any more.
  void Restore();

 private:
  static constexpr std::uint64_t kEveryByte = 0x0101010101010101ULL;
  static constexpr std::uint64_t kWritten = 0x80;  // with the worker's number
  static constexpr std::uint64_t kShared = 0x40;   // read by several
  static constexpr std::uint64_t kReadBySeveral = kEveryByte * kShared;

  bool Find(const Allocation& allocation);
  bool ClaimGroup(std::uint64_t group, std::uint64_t mask, std::uint64_t seen, bool writes);
  bool Keep(std::uint64_t group, std::uint32_t words);

  WordClaims& claims_;
  MemoryPool& pool_;
  std::uint64_t number_;
  std::uint64_t own_reads_;
  std::uint64_t own_writes_;
  const Allocation* allocation_ = nullptr;  // of the last claim
  std::uint64_t first_group_ = 0;
  std::uint64_t* groups_ = nullptr;
  // For each group: its number and which of its words follow, then each word's four bytes and their writers.
  std::vector<std::vector<std::uint64_t>> kept_;
};

}  // namespace upskill::ptx
