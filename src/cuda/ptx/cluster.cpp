// SPDX-License-Identifier: Apache-2.0
// Clusters: the shared memory of their other blocks, and their barrier.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"

namespace upskill::ptx {
Dim3 Machine::BlockInCluster(std::uint32_t rank) const {
  const Dim3& shape = config_.cluster;
  return Dim3{rank % shape.x, rank / shape.x % shape.y, rank / shape.x / shape.y};
}

// Whose shared memory the address is in; nullptr if there is no such block, or none any more.
Block* Machine::OwnerOf(std::uint64_t shared_address) const {
  const std::uint64_t rank = (shared_address & 0xFFFFFFFFU) >> kRankShift;
  if (rank == 0) return block_;
  const std::vector<Block*>& blocks = block_->cluster->blocks;
  return rank <= blocks.size() ? blocks[rank - 1] : nullptr;
}

// mapa and getctarank.
void Machine::MapToRank(const Inst& inst, std::uint32_t mask) {
  const bool wide = inst.slot_size == 8;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint64_t address =
        wide ? Register<std::uint64_t>(inst.op[1])[lane] : std::uint64_t{Register<std::uint32_t>(inst.op[1])[lane]};
    if (inst.sub == kRankOfAddress) {
      const std::uint64_t tag = (address & 0xFFFFFFFFU) >> kRankShift;
      Register<std::uint32_t>(inst.op[0])[lane] = tag == 0 ? block_->rank : static_cast<std::uint32_t>(tag - 1);
      continue;
    }
    const std::uint32_t rank = Register<std::uint32_t>(inst.op[2])[lane];
    const bool shared = inst.space == Space::kShared || (address & ~std::uint64_t{0xFFFFFFFFU}) == kSharedWindow;
    if (rank >= config_.cluster.Count() || !shared) {
      Report(FindingKind::kBadSynchronisation, inst, lane,
             shared ? fmt::format("Invalid rank {} in a cluster of {} blocks", rank, config_.cluster.Count())
                    : "The address to be mapped isn't one of shared memory",
             {}, address);
    }
    const std::uint64_t window = wide ? address & ~std::uint64_t{0xFFFFFFFFU} : 0;
    const std::uint64_t mapped =
        window | ((std::uint64_t{std::min(rank, 254U)} + 1) << kRankShift) | (address & kRankOffsets);
    if (wide) {
      Register<std::uint64_t>(inst.op[0])[lane] = mapped;
    } else {
      Register<std::uint32_t>(inst.op[0])[lane] = static_cast<std::uint32_t>(mapped);
    }
  }
}

// Another block's memory may be accessed once something shows that the block has started, and until it ends.
void Machine::NoteRemoteAccess(const Inst& inst, std::uint32_t lane, Block& owner, std::uint64_t address,
                               std::uint32_t bytes) {
  if (!options_.check_races) return;
  MemoryAccess access = Watched(inst);
  access.thread = static_cast<std::uint16_t>(warp_->index * 32 + lane);
  owner.accesses_of_others[WarpKey(block_->index, warp_->index)] = access;
  if (RaceChecker::KnowsOf(block_->clock, access.thread, owner.index)) return;
  Report(FindingKind::kRace, inst, lane, fmt::format("Potential hazard detected at __shared__ address {:#x}", address),
         "it belongs to a block of the cluster that may not have started: the cluster must synchronise first", address,
         bytes, Space::kShared);
}

// The block's threads have all exited: some of them must have known of each access by other blocks.
void Machine::CheckAccessesOfOthers(Block& block) {
  const auto threads = static_cast<std::uint16_t>(block.clock.threads.size());
  for (const auto& [key, access] : block.accesses_of_others) {
    bool known = false;
    for (std::uint16_t thread = 0; thread < threads && !known; ++thread) {
      known = races_.Knows(block.clock, ThreadId{block.index, thread}, access);
    }
    if (known) continue;
    Finding* finding = FindingAt(FindingKind::kRace, static_cast<std::uint32_t>(access.pc), 0);
    if (finding == nullptr) continue;
    Place(*finding, static_cast<std::uint32_t>(access.pc), access.block, access.thread);
    finding->space = Space::kShared;
    finding->message = "Potential hazard detected at __shared__ memory of another block of the cluster";
    finding->detail = "that block may have ended: the cluster must synchronise before its blocks exit";
  }
  block.accesses_of_others.clear();
}

Step Machine::ClusterArrive(const Inst& inst, std::uint32_t mask) {
  Cluster& cluster = *block_->cluster;
  std::vector<std::uint64_t>& arrivals = block_->cluster_arrivals;
  arrivals.resize(config_.block.Count());
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    std::uint64_t& arrival = arrivals[warp_->index * 32 + lane];
    if (arrival != 0) {
      Report(FindingKind::kBadSynchronisation, inst, lane,
             "The thread arrives at the cluster's barrier again without having waited");
      if (arrival == cluster.phase + 1) continue;
    }
    arrival = cluster.phase + 1;
    ++cluster.arrived;
  }
  if (options_.check_races && inst.sub == kClusterArrive) {
    races_.Gather(cluster.gathering, block_->clock, block_->index, warp_->index, mask, warp_->live);
  }
  CheckClusterBarrier(cluster);
  return Step::kNext;
}

// A fragment comes here again when the phase that its lanes have arrived in is over.
Step Machine::ClusterWait(const Inst& inst, std::uint32_t mask) {
  Fragment& fragment = warp_->fragments[fragment_];
  if (mask != fragment.mask) {
    SplitOff(mask, fragment.pc);
    return Step::kNext;
  }
  const Cluster& cluster = *block_->cluster;
  std::vector<std::uint64_t>& arrivals = block_->cluster_arrivals;
  arrivals.resize(config_.block.Count());
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint64_t arrival = arrivals[warp_->index * 32 + lane];
    if (arrival == 0) {
      Report(FindingKind::kBadSynchronisation, inst, lane,
             "The thread waits at the cluster's barrier without having arrived");
    } else if (arrival > cluster.phase) {
      fragment.state = FragmentState::kBarrier;
      fragment.barrier = kBarrierOfCluster;
      return Step::kStay;
    }
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const auto thread = static_cast<std::uint16_t>(warp_->index * 32 + lane);
    arrivals[thread] = 0;
    if (options_.check_races && cluster.released) races_.Learn(block_->clock, thread, cluster.released);
  }
  return Step::kNext;
}

void Machine::CheckClusterBarrier(Cluster& cluster) {
  if (cluster.arrived == 0) return;
  std::uint32_t live = 0;
  for (const Block* block : cluster.blocks) live += block == nullptr ? 0 : block->live_threads;
  if (cluster.arrived < live) return;
  ++cluster.phase;
  ++changes_;
  ++outcome_.counters.barriers;
  cluster.arrived = 0;
  cluster.released = std::move(cluster.gathering.map);
  cluster.gathering = {};
  for (Block* block : cluster.blocks) {
    if (block == nullptr) continue;
    for (Warp& warp : block->warps) {
      for (Fragment& fragment : warp.fragments) {
        if (fragment.state != FragmentState::kBarrier || fragment.barrier != kBarrierOfCluster) continue;
        fragment.state = FragmentState::kRunnable;
        fragment.barrier = 0;
      }
    }
  }
}

// Lanes exit: the others needn't wait for them any more.
void Machine::LeaveCluster(std::uint32_t mask) {
  Cluster& cluster = *block_->cluster;
  for (std::uint32_t lane = 0; lane < 32 && !block_->cluster_arrivals.empty(); ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    if (block_->cluster_arrivals[warp_->index * 32 + lane] == cluster.phase + 1) --cluster.arrived;
  }
  if (block_->live_threads == 0 && !block_->accesses_of_others.empty()) CheckAccessesOfOthers(*block_);
  CheckClusterBarrier(cluster);
}

}  // namespace upskill::ptx
