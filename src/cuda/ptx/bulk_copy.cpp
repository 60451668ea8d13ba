// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk: copies of ranges by one thread. Into shared memory, a copy completes bytes of an mbarrier, and what it
// brings is there for those who have waited for the barrier's phase.
#include <algorithm>
#include <cstring>
#include <string>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kUnit = 16;  // addresses and sizes are multiples of it

}  // namespace

// Both ends of the copy of one lane, or nothing if something is wrong with them.
std::optional<BulkEnds> Machine::BulkEndsOf(const Inst& inst, std::uint32_t lane, std::uint32_t bytes,
                                            std::uint64_t to) {
  const bool to_shared = inst.sub != kBulkToGlobal;
  const bool from_shared = inst.sub != kBulkToShared;
  const std::uint64_t from = Register<std::uint64_t>(inst.op[1])[lane];
  if (bytes % kUnit != 0 || to % kUnit != 0 || from % kUnit != 0 || bytes == 0) {
    Report(FindingKind::kMisaligned, inst, lane, "Invalid bulk copy of " + std::to_string(bytes) + " bytes",
           "addresses and sizes must be multiples of 16 bytes", to, bytes, Space::kShared);
    return std::nullopt;
  }
  BulkEnds ends;
  const bool writable = to_shared ? ResolveShared(inst, lane, to & 0xFFFFFFFFU, bytes, "write", ends.to)
                                  : ResolveGlobal(inst, lane, to, bytes, "write", ends.to);
  const bool readable = from_shared ? ResolveShared(inst, lane, from & 0xFFFFFFFFU, bytes, "read", ends.from)
                                    : ResolveGlobal(inst, lane, from, bytes, "read", ends.from);
  if (!writable || !readable) return std::nullopt;
  for (const Target* end : {&ends.to, &ends.from}) {
    if (end->space != Space::kShared || std::find(end->state, end->state + bytes, kGap) == end->state + bytes) continue;
    Report(FindingKind::kOutOfBounds, inst, lane, "Invalid __shared__ bulk copy of " + std::to_string(bytes) + " bytes",
           "the range goes beyond its variable", end->address, bytes, Space::kShared);
    return std::nullopt;
  }
  if (ends.to.read_only) {
    Report(FindingKind::kReadOnlyWrite, inst, lane, "Invalid bulk copy to read-only memory", {}, to, bytes,
           Space::kGlobal);
    return std::nullopt;
  }
  return ends;
}

// Operands: the target, the source, the bytes, for copies into shared memory the mbarrier, and for those to several
// blocks of the cluster (flags 1) a mask of their ranks.
void Machine::BulkCopy(const Inst& inst, std::uint32_t mask) {
  for (std::uint32_t i = 0; i < inst.sources; ++i) CheckUse(inst, inst.op[i], mask);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    if (options_.check_races) races_.Tick();
    const std::uint64_t to = Register<std::uint64_t>(inst.op[0])[lane];
    const std::uint64_t barrier = inst.sub == kBulkToGlobal ? 0 : Register<std::uint64_t>(inst.op[3])[lane];
    if (inst.flags == 0) {
      BulkCopyTo(inst, lane, to, barrier);
      continue;
    }
    const std::uint32_t ranks = Register<std::uint16_t>(inst.op[4])[lane];
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      if (((ranks >> rank) & 1U) == 0) continue;
      const std::uint64_t tag = std::uint64_t{rank + 1} << kRankShift;
      BulkCopyTo(inst, lane, (to & kRankOffsets) | tag, (barrier & kRankOffsets) | tag);
    }
  }
}

void Machine::BulkCopyTo(const Inst& inst, std::uint32_t lane, std::uint64_t to, std::uint64_t barrier) {
  const std::uint32_t bytes = Register<std::uint32_t>(inst.op[2])[lane];
  const std::optional<BulkEnds> ends = BulkEndsOf(inst, lane, bytes, to);
  if (!ends) return;
  NoteMoved(bytes);
  if (options_.check_races) {
    CheckRace(inst, lane, ends->from, bytes, false, false, false);
    CheckRace(inst, lane, ends->to, bytes, true, false, false);
  }
  if (options_.count_memory && inst.sub != kBulkToCluster) {
    Counters& counters = outcome_.counters;
    const bool loads = inst.sub == kBulkToShared;
    (loads ? counters.global_load_requests : counters.global_store_requests) += 1;
    (loads ? counters.global_load_sectors : counters.global_store_sectors) += (bytes + 31) / 32;
    (loads ? counters.global_load_bytes : counters.global_store_bytes) += bytes;
  }
  if (inst.sub != kBulkToShared) {
    KnownBytes(inst, lane, ends->from, bytes);
    CheckProxyFence(inst, lane, ends->from, bytes);
  }
  if (inst.sub != kBulkToGlobal) {
    BulkToShared(inst, lane, *ends, bytes, barrier);
    return;
  }
  std::memcpy(ends->to.data, ends->from.data, bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    ends->to.state[i] = ends->from.state[i] == 0 ? 0 : static_cast<std::uint8_t>(Writer::kDevice);
  }
}

void Machine::BulkToShared(const Inst& inst, std::uint32_t lane, const BulkEnds& ends, std::uint32_t bytes,
                           std::uint64_t barrier) {
  Target place;
  const std::uint64_t address = barrier & 0xFFFFFFFFU;
  if (address % 8 != 0) {
    Report(FindingKind::kMisaligned, inst, lane, "Invalid __shared__ access of size 8 bytes",
           "the bulk copy's mbarrier is misaligned", address, 8, Space::kShared);
    return;
  }
  if (!ResolveShared(inst, lane, address, 8, "access", place)) return;
  Block& owner = *place.block;
  const auto found = owner.mbarriers.find(place.address);
  if (found == owner.mbarriers.end() || !found->second.valid || &owner != ends.to.block) {
    Report(FindingKind::kBadSynchronisation, inst, lane,
           &owner == ends.to.block ? "mbarrier used before it is initialised"
                                   : "The mbarrier of a bulk copy is in another block than its target",
           {}, place.address, 8, Space::kShared);
    return;
  }
  BulkArrival arrival{place.address, found->second.phase, ends.to.address, {}, {}};
  arrival.data.assign(ends.from.data, ends.from.data + bytes);
  arrival.state.resize(bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    arrival.state[i] = ends.from.state[i] == 0 ? 0 : static_cast<std::uint8_t>(Writer::kDevice);
  }
  std::memset(ends.to.state, kAsyncPending, bytes);
  Charge(owner, 2 * std::uint64_t{bytes} + sizeof(BulkArrival));
  owner.arrivals.push_back(std::move(arrival));
  if (options_.check_races) {
    const ThreadId self{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)};
    races_.Release(SharedScope(place), place.address, races_.Everything(block_->clock, self));
  }
  found->second.transactions -= bytes;
  Arrive(found->second, 0);
}

// A thread has seen that the phases before `phase` of the block's barrier are over.
void Machine::DeliverBulk(Block& block, std::uint64_t address, std::uint64_t phase) {
  std::erase_if(block.arrivals, [&](const BulkArrival& arrival) {
    if (arrival.barrier != address || arrival.phase >= phase) return false;
    std::memcpy(block.shared.data() + arrival.to, arrival.data.data(), arrival.data.size());
    std::memcpy(block.shared_state.data() + arrival.to, arrival.state.data(), arrival.state.size());
    const std::uint64_t bytes = 2 * arrival.data.size() + sizeof(BulkArrival);
    host_bytes_ -= bytes;
    block.bytes -= bytes;
    return true;
  });
}

}  // namespace upskill::ptx
