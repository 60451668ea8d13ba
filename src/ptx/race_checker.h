// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace upskill::ptx {

// A thread of the grid, by its block and its number in it.
struct ThreadId {
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  bool operator==(const ThreadId&) const = default;
  std::uint32_t Warp() const { return thread / 32U; }
};

// Until when a thread knows what others did: everything before that time is ordered before the thread's next access.
// Keys are a block, a warp or a thread. Shared between the threads that learnt it together, and never changed.
using KnowledgeMap = std::map<std::uint64_t, std::uint64_t>;
using Knowledge = std::shared_ptr<const KnowledgeMap>;
std::uint64_t BlockKey(std::uint32_t block);
std::uint64_t WarpKey(std::uint32_t block, std::uint32_t warp);
std::uint64_t ThreadKey(ThreadId thread);
Knowledge Join(const Knowledge& a, const Knowledge& b);

struct MemoryAccess {
  std::uint64_t time = 0;  // 0: none
  ThreadId thread;
  std::uint8_t bytes = 0;  // which of the four bytes
  bool strong = false;     // atomic, volatile, relaxed or stronger
  std::uint32_t pc = 0;
};

// The last accesses of four bytes: the last write, and two reads since then, of different warps if there are such.
struct ShadowCell {
  MemoryAccess write;
  std::array<MemoryAccess, 2> reads;
};

// What a thread knows, as far as the block and the warp don't say.
struct ThreadClock {
  Knowledge knowledge;
  Knowledge fenced;  // what an atomic of this thread passes on: what it knew at its last fence
};

struct WarpClock {
  std::uint64_t synchronised = 0;                          // all lanes, at this time
  std::unique_ptr<std::array<std::uint64_t, 1024>> pairs;  // of lanes, if only some of them did
};

struct BlockClock {
  std::uint64_t barrier = 0;   // the last time that all threads synchronised
  bool has_knowledge = false;  // some thread has
  std::vector<ThreadClock> threads;
  std::vector<WarpClock> warps;
};

// Finds pairs of accesses that nothing orders. Time is that of the simulation, which runs one thing after another.
class RaceChecker {
 public:
  explicit RaceChecker(std::uint64_t memory_budget) : budget_(memory_budget) {}

  std::uint64_t Tick() { return ++time_; }
  std::uint64_t Now() const { return time_; }

  bool Knows(const BlockClock& clock, ThreadId self, const MemoryAccess& other) const;
  // Records the access and returns an earlier one that it races with.
  std::optional<MemoryAccess> Check(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access, bool writes,
                                    bool same_value) const;
  // The cell of a global address; nullptr if the budget is spent.
  ShadowCell* GlobalCell(std::uint64_t address);
  bool Incomplete() const { return incomplete_; }
  std::uint64_t UsedBytes() const { return used_; }

  void BlockBarrier(BlockClock& clock);
  void SomeWarpsBarrier(BlockClock& clock, std::uint32_t block, const std::vector<std::uint16_t>& threads);
  void WarpBarrier(BlockClock& clock, std::uint32_t warp, std::uint32_t mask, std::uint32_t all);
  void Fence(BlockClock& clock, ThreadId self);
  Knowledge Everything(const BlockClock& clock, ThreadId self) const;  // that the thread knows now
  // What is passed on at an address by atomics and the like. `scope`: the block of a shared address + 1, or 0.
  void Release(std::uint32_t scope, std::uint64_t address, const Knowledge& knowledge);
  void Acquire(BlockClock& clock, ThreadId self, std::uint32_t scope, std::uint64_t address);

 private:
  struct Page {
    std::array<ShadowCell, 1024> cells;
  };
  std::uint64_t budget_;
  std::uint64_t used_ = 0;
  std::uint64_t time_ = 0;
  bool incomplete_ = false;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  Page* last_ = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Knowledge> published_;
};

}  // namespace upskill::ptx
