// SPDX-License-Identifier: Apache-2.0
// What a machine keeps of the blocks that run: their clusters, warps, fragments and frames, barriers, and shared
// memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cuda/ptx/device_memory.h"
#include "cuda/ptx/lane_addresses.h"
#include "cuda/ptx/module.h"
#include "cuda/ptx/race_checker.h"
#include "util/rng.h"

namespace upskill::ptx {

// Windows of generic addresses.
constexpr std::uint64_t kSharedWindow = 0x10000000000ULL;
constexpr std::uint64_t kLocalWindow = 0x20000000000ULL;
constexpr std::uint64_t kWindowBytes = std::uint64_t{1} << 32U;
constexpr std::uint64_t kFunctionAddress = 0xF00000000000ULL;
constexpr std::uint64_t kSharedStart = 1024;  // the first shared address, as on sm_90
// Addresses of shared memory of a given block of the cluster have its rank + 1 from this bit on.
constexpr unsigned kRankShift = 24;
constexpr std::uint64_t kRankOffsets = (std::uint64_t{1} << kRankShift) - 1;  // bits of the address in its block
constexpr std::uint32_t kNowhere = 0xFFFFFFFFU;

// Which lanes of a register hold a value that nobody wrote, and where it came from.
struct Taint {
  std::uint32_t lanes = 0;
  std::uint32_t computed = 0;       // of those, which an instruction has computed with
  std::uint32_t origin = kNowhere;  // the load; kNowhere: the register was never written
};

struct AlignedDelete {
  void operator()(char* memory) const;
};

// The registers of one call for the lanes of a warp that made it together.
struct Frame {
  std::uint32_t function = 0;
  std::unique_ptr<char, AlignedDelete> registers;
  std::uint64_t bytes = 0;
  std::vector<Taint> taints;  // of each 64 bytes of registers
  Frame* caller = nullptr;
  std::uint32_t call = 0;  // the call site
  std::uint32_t return_pc = 0;
  std::uint32_t local_base = 0;
  std::uint32_t depth = 0;
  std::uint32_t lanes = 0;  // that haven't returned
};

// kEndless: at a branch that jumps to itself for ever.
enum class FragmentState : std::uint8_t { kRunnable, kBarrier, kCollective, kEndless };

// Lanes of a warp that are at the same place. A warp has one fragment until its lanes part.
struct Fragment {
  std::uint32_t mask = 0;
  std::uint32_t pc = 0;
  Frame* frame = nullptr;
  FragmentState state = FragmentState::kRunnable;
  std::uint64_t turns = 0;  // how often it gave way to others
  bool arrived = false;     // at the barrier that it now passes
  std::uint32_t barrier = 0;
  std::uint64_t polled_at = 0;  // Machine::changes_ when it last looked whether something has changed
  std::uint64_t polls = 0;      // how often it has looked since then, at the same address
  std::uint64_t polled_address = 0;
};

struct AsyncCopy {
  std::uint64_t to = 0;
  std::uint8_t bytes = 0;
  std::uint32_t pc = 0;
  std::array<std::uint8_t, 16> data{};
  std::array<bool, 16> known{};  // which bytes somebody wrote
};

// The copies of one thread: those of committed groups, oldest first, and the open group.
struct AsyncCopies {
  std::vector<std::vector<AsyncCopy>> groups;
  std::vector<AsyncCopy> open;
};

struct Block;

struct Warp {
  Block* block = nullptr;
  std::uint32_t index = 0;
  std::uint32_t lanes = 0;  // that exist
  std::uint32_t live = 0;   // that haven't exited
  std::vector<Fragment> fragments;
  std::vector<std::unique_ptr<Frame>> frames;
  std::vector<std::uint8_t> local;  // of lane after lane, `local_stride` bytes each
  std::vector<Writer> local_writer;
  std::uint32_t local_stride = 0;
  std::vector<AsyncCopies> copies;  // of each lane, or none
  std::uint64_t executed = 0;
};

struct Mbarrier {
  std::uint64_t phase = 0;
  std::int64_t expected = 0;  // arrivals of each phase
  std::int64_t pending = 0;
  std::int64_t transactions = 0;
  bool valid = false;
};

struct BlockBarrier {
  std::uint32_t threads = 0;  // expected; 0: all
  std::uint32_t arrived = 0;
  std::uint32_t ones = 0;  // predicates of a reduction
  bool any_zero = false;
  std::vector<std::uint16_t> members;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // warps and instructions
};
constexpr std::uint32_t kBarrierOfCluster = 16;  // what fragments wait for that wait for the cluster; no BlockBarrier

// What a bulk copy brings to shared memory once the phase of its mbarrier is over.
struct BulkArrival {
  std::uint64_t barrier = 0;
  std::uint64_t phase = 0;
  std::uint64_t to = 0;
  std::vector<std::uint8_t> data;
  std::vector<std::uint8_t> state;
};

// Blocks that run together and reach each other's shared memory.
struct Cluster {
  std::vector<Block*> blocks;  // by rank; nullptr: ended
  std::uint64_t phase = 0;     // of the cluster's barrier
  std::uint32_t arrived = 0;   // threads that haven't exited, in this phase
  Gathering gathering;         // what those have known that arrived in this phase
  Knowledge released;          // of the phase before
};

struct Block {
  std::uint32_t index = 0;
  Dim3 id{0, 0, 0};
  Rng rng{0};  // of the order in which its warps run
  Cluster* cluster = nullptr;
  std::uint32_t rank = 0;
  std::vector<std::uint64_t> cluster_arrivals;  // of each thread: the phase + 1 that it waits for; empty: none yet
  std::map<std::uint64_t, MemoryAccess> accesses_of_others;  // to this block's shared memory; by WarpKey, the last
  std::vector<Warp> warps;
  std::vector<std::uint8_t> shared;
  std::vector<std::uint8_t> shared_state;  // a Writer, kGap or kAsyncPending
  std::vector<ShadowCell> shared_shadow;
  std::unordered_map<std::uint64_t, std::uint32_t> undefined_from;  // stored values that nobody wrote: the first load
  std::array<BlockBarrier, 16> barriers;
  std::map<std::uint64_t, Mbarrier> mbarriers;
  std::vector<BulkArrival> arrivals;
  BlockClock clock;
  std::uint32_t live_threads = 0;
  std::uint64_t bytes = 0;  // of host memory
};

constexpr std::uint8_t kGap = 3;
constexpr std::uint8_t kAsyncPending = 4;

// Where an access of one lane ends up. `state` has a Writer for each byte, and may be nullptr.
struct Target {
  std::uint8_t* data = nullptr;
  std::uint8_t* state = nullptr;
  Space space = Space::kGlobal;
  std::uint64_t address = 0;  // in its space
  bool read_only = false;
  Block* block = nullptr;  // whose shared memory it is; nullptr: the running block's
};

struct BulkEnds {
  Target to;
  Target from;
};

// Where the lanes of a warp access memory, if they do it in one variable's or allocation's space. `data` and `state`
// are of the first address.
struct WarpAccess {
  std::uint8_t* data;
  std::uint8_t* state;
  std::uint64_t first;  // in its space
  Space space;
  bool read_only;
  const LaneAddresses& lanes;
};

}  // namespace upskill::ptx
