// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "cuda/ptx/memory_pool.h"

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

// 16 bytes, because there are three for each four bytes of memory.
constexpr std::uint64_t kMostTime = (std::uint64_t{1} << 43U) - 1;
constexpr std::uint64_t kMostPc = (std::uint64_t{1} << 21U) - 1;
struct MemoryAccess {
  std::uint64_t time : 43 = 0;  // 0: none
  std::uint64_t pc : 21 = 0;
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint8_t bytes = 0;        // which of the four bytes
  bool strong : 1 = false;       // atomic, volatile, relaxed or stronger
  bool block_scope : 1 = false;  // strong for threads of the same block only

  ThreadId Thread() const { return ThreadId{block, thread}; }
  std::uint32_t Warp() const { return thread / 32U; }
};
static_assert(sizeof(MemoryAccess) == 16);

// The last accesses of four bytes: the last write, and two reads since then, of different warps if there are such.
struct ShadowCell {
  MemoryAccess write;
  std::array<MemoryAccess, 2> reads;
};

// An earlier access that another one races with.
struct Conflict {
  MemoryAccess access;
  bool writes = false;
};

// What a thread knows, as far as the block and the warp don't say.
struct ThreadClock {
  Knowledge knowledge;
  Knowledge fenced;                // what an atomic of this thread passes on: what it knew at its last fence
  Knowledge fenced_in_block;       // the same for threads of its block
  std::uint64_t proxy_fenced = 0;  // when it last made what it knew visible to asynchronous copies
  KnowledgeMap seen;  // by ThreadKey: the time of the last strong write of that thread that this one has read
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

// What is known to the threads that have arrived at a barrier of several blocks.
struct Gathering {
  std::shared_ptr<KnowledgeMap> map;
  std::set<Knowledge> joined;  // already in the map
};

// Finds pairs of accesses that nothing orders. Time is that of the simulation, which runs one thing after another.
class RaceChecker {
 public:
  explicit RaceChecker(std::uint64_t memory_budget) : budget_(memory_budget) {}
  // Goes on from what `earlier` knows of global memory, which mustn't change meanwhile. Takes its memory from the pool.
  RaceChecker(const RaceChecker& earlier, MemoryPool& pool) : time_(earlier.time_), earlier_(&earlier), pool_(&pool) {}

  std::uint64_t Tick() { return ++time_; }
  std::uint64_t Now() const { return time_; }

  bool Knows(const BlockClock& clock, ThreadId self, const MemoryAccess& other) const;
  // Records the access and returns an earlier one that it races with.
  std::optional<Conflict> Check(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access, bool writes,
                                bool same_value) const;
  // As Check, for accesses that aren't strong and after which nothing is to be reported: false if it isn't that simple,
  // and then the cell is as it was. `access.bytes` may be more than the access has in this cell.
  static bool PlainRead(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access);
  static bool PlainWrite(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access);
  // The cell of a global address; nullptr if the budget is spent.
  ShadowCell* GlobalCell(std::uint64_t address) {
    if (address / 4096 != last_page_ && !FindPage(address / 4096)) return nullptr;
    return &last_->cells[(address % 4096) / 4];
  }
  // Strong accesses that aren't read-modify-write operations. A write returns another thread's write that it undoes:
  // one made after the thread's own read of the place.
  void NoteStrongRead(std::uint32_t scope, std::uint64_t address, const MemoryAccess& access);
  std::optional<MemoryAccess> StrongWrite(std::uint32_t scope, std::uint64_t address, const MemoryAccess& access);
  bool Incomplete() const { return incomplete_; }
  std::uint64_t UsedBytes() const { return used_; }

  void BlockBarrier(BlockClock& clock);
  void SomeWarpsBarrier(BlockClock& clock, std::uint32_t block, const std::vector<std::uint16_t>& threads);
  void WarpBarrier(BlockClock& clock, std::uint32_t warp, std::uint32_t mask, std::uint32_t all);
  // `block_scope`: it orders nothing for threads of other blocks.
  void Fence(BlockClock& clock, ThreadId self, bool block_scope);
  // The same for barriers of several blocks: lanes of a warp arrive, and each learns what was gathered.
  void Gather(Gathering& gathering, const BlockClock& clock, std::uint32_t block, std::uint32_t warp,
              std::uint32_t mask, std::uint32_t all);
  void Learn(BlockClock& clock, std::uint16_t thread, const Knowledge& knowledge);
  // Whether anything that a thread of the block did is known.
  static bool KnowsOf(const BlockClock& clock, std::uint16_t thread, std::uint32_t block);
  Knowledge Everything(const BlockClock& clock, ThreadId self) const;  // that the thread knows now
  // What is passed on at an address by atomics and the like. `scope`: the block of a shared address + 1, or 0.
  void Release(std::uint32_t scope, std::uint64_t address, const Knowledge& knowledge);
  void Acquire(BlockClock& clock, ThreadId self, std::uint32_t scope, std::uint64_t address);
  // The block has ended, and with it its shared memory.
  void ForgetShared(std::uint32_t block);

 private:
  // A thread that has read a place by a strong access, and the last strong write to it by another since then.
  struct StrongRead {
    MemoryAccess read;
    MemoryAccess overwritten_by;
  };
  struct Page {
    std::array<ShadowCell, 1024> cells;
  };
  bool FindPage(std::uint64_t page);
  const Page* KnownPage(std::uint64_t page) const;
  std::uint64_t budget_ = 0;
  std::uint64_t used_ = 0;
  std::uint64_t time_ = 0;
  bool incomplete_ = false;
  const RaceChecker* earlier_ = nullptr;
  MemoryPool* pool_ = nullptr;
  std::uint64_t last_page_ = ~std::uint64_t{0};
  Page* last_ = nullptr;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, Knowledge> published_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::vector<StrongRead>> strong_reads_;
  std::array<Knowledge, 3> last_learnt_;  // two that were joined, and the result
};

// Whether the thread itself made the access, or the last barrier of its block orders it.
inline bool PlainlyKnown(const MemoryAccess& other, const BlockClock& clock, ThreadId self) {
  return other.time == 0 || (other.block == self.block && (other.thread == self.thread || other.time <= clock.barrier));
}

// The last read, and one of another warp if there was one.
inline void RecordRead(ShadowCell& cell, const MemoryAccess& access) {
  MemoryAccess& first = cell.reads[0];
  MemoryAccess& second = cell.reads[1];
  const bool same_warp = first.block == access.block && first.Warp() == access.Warp();
  const bool same_thread = first.block == access.block && first.thread == access.thread;
  if (first.time != 0 && !same_thread && (!same_warp || second.time == 0)) second = first;
  first = access;
}

inline bool RaceChecker::PlainRead(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access) {
  if (!PlainlyKnown(cell.write, clock, access.Thread())) return false;
  // A second lane that reads the same in the same instruction adds nothing once two reads are known.
  if (cell.reads[0].time == access.time && cell.reads[0].bytes == access.bytes && cell.reads[1].time != 0) return true;
  RecordRead(cell, access);
  return true;
}

inline bool RaceChecker::PlainWrite(ShadowCell& cell, const BlockClock& clock, const MemoryAccess& access) {
  if (!PlainlyKnown(cell.write, clock, access.Thread()) || !PlainlyKnown(cell.reads[0], clock, access.Thread()) ||
      !PlainlyKnown(cell.reads[1], clock, access.Thread())) {
    return false;
  }
  cell.write = access;
  cell.reads = {};
  return true;
}

}  // namespace upskill::ptx
