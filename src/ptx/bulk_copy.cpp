// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk: copies of ranges by one thread. Into shared memory, a copy completes bytes of an mbarrier, and what it
// brings is there for those who have waited for the barrier's phase.
#include <algorithm>
#include <cstring>
#include <string>

#include "ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kUnit = 16;  // addresses and sizes are multiples of it

}  // namespace

// Both ends of the copy of one lane, or nothing if something is wrong with them.
std::optional<BulkEnds> Machine::BulkEndsOf(const Inst& inst, std::uint32_t lane, std::uint32_t bytes) {
  const bool to_shared = inst.sub == 1;
  const std::uint64_t to = Register<std::uint64_t>(inst.op[0])[lane];
  const std::uint64_t from = Register<std::uint64_t>(inst.op[1])[lane];
  if (bytes % kUnit != 0 || to % kUnit != 0 || from % kUnit != 0 || bytes == 0) {
    Report(FindingKind::kMisaligned, inst, lane, "Invalid bulk copy of " + std::to_string(bytes) + " bytes",
           "addresses and sizes must be multiples of 16 bytes", to, bytes, Space::kShared);
    return std::nullopt;
  }
  BulkEnds ends;
  const bool writable = to_shared ? ResolveShared(inst, lane, to & 0xFFFFFFFFU, bytes, "write", ends.to)
                                  : ResolveGlobal(inst, lane, to, bytes, "write", ends.to);
  const bool readable = to_shared ? ResolveGlobal(inst, lane, from, bytes, "read", ends.from)
                                  : ResolveShared(inst, lane, from & 0xFFFFFFFFU, bytes, "read", ends.from);
  if (!writable || !readable) return std::nullopt;
  const std::uint8_t* shared = to_shared ? ends.to.state : ends.from.state;
  if (std::find(shared, shared + bytes, kGap) != shared + bytes) {
    Report(FindingKind::kOutOfBounds, inst, lane, "Invalid __shared__ bulk copy of " + std::to_string(bytes) + " bytes",
           "the range goes beyond its variable", to_shared ? to : from, bytes, Space::kShared);
    return std::nullopt;
  }
  if (ends.to.read_only) {
    Report(FindingKind::kReadOnlyWrite, inst, lane, "Invalid bulk copy to read-only memory", {}, to, bytes,
           Space::kGlobal);
    return std::nullopt;
  }
  return ends;
}

// Operands: the target, the source, the bytes, and for copies into shared memory the mbarrier.
void Machine::BulkCopy(const Inst& inst, std::uint32_t mask) {
  for (std::uint32_t i = 0; i < inst.sources; ++i) CheckUse(inst, inst.op[i], mask);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    if (options_.check_races) races_.Tick();
    const std::uint32_t bytes = Register<std::uint32_t>(inst.op[2])[lane];
    const std::optional<BulkEnds> ends = BulkEndsOf(inst, lane, bytes);
    if (!ends) continue;
    if (options_.check_races) {
      CheckRace(inst, lane, ends->from, bytes, false, false, false);
      CheckRace(inst, lane, ends->to, bytes, true, false, false);
    }
    if (options_.count_memory) {
      Counters& counters = outcome_.counters;
      (inst.sub == 1 ? counters.global_load_requests : counters.global_store_requests) += 1;
      (inst.sub == 1 ? counters.global_load_sectors : counters.global_store_sectors) += (bytes + 31) / 32;
      (inst.sub == 1 ? counters.global_load_bytes : counters.global_store_bytes) += bytes;
    }
    if (inst.sub != 1) {
      KnownBytes(inst, lane, ends->from, bytes);
      std::memcpy(ends->to.data, ends->from.data, bytes);
      for (std::uint32_t i = 0; i < bytes; ++i) {
        ends->to.state[i] = ends->from.state[i] == 0 ? 0 : static_cast<std::uint8_t>(Writer::kDevice);
      }
      continue;
    }
    BulkToShared(inst, lane, *ends, bytes);
  }
}

void Machine::BulkToShared(const Inst& inst, std::uint32_t lane, const BulkEnds& ends, std::uint32_t bytes) {
  Target place;
  const std::uint64_t wanted = Register<std::uint64_t>(inst.op[3])[lane] & 0xFFFFFFFFU;
  if (wanted % 8 != 0 || !ResolveShared(inst, lane, wanted, 8, "access", place)) return;
  const std::uint64_t address = place.address;
  const auto found = block_->mbarriers.find(address);
  if (found == block_->mbarriers.end() || !found->second.valid) {
    Report(FindingKind::kBadSynchronisation, inst, lane, "mbarrier used before it is initialised", {}, address, 8,
           Space::kShared);
    return;
  }
  BulkArrival arrival{address, found->second.phase, ends.to.address, {}, {}};
  arrival.data.assign(ends.from.data, ends.from.data + bytes);
  arrival.state.resize(bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    arrival.state[i] = ends.from.state[i] == 0 ? 0 : static_cast<std::uint8_t>(Writer::kDevice);
  }
  std::memset(ends.to.state, kAsyncPending, bytes);
  Charge(2 * std::uint64_t{bytes} + sizeof(BulkArrival));
  block_->arrivals.push_back(std::move(arrival));
  if (options_.check_races) {
    const ThreadId self{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)};
    races_.Release(block_->index + 1, address, races_.Everything(block_->clock, self));
  }
  found->second.transactions -= bytes;
  Arrive(found->second, 0);
}

// The thread has seen that the phases before `phase` of the barrier are over.
void Machine::DeliverBulk(std::uint64_t address, std::uint64_t phase) {
  std::erase_if(block_->arrivals, [&](const BulkArrival& arrival) {
    if (arrival.barrier != address || arrival.phase >= phase) return false;
    std::memcpy(block_->shared.data() + arrival.to, arrival.data.data(), arrival.data.size());
    std::memcpy(block_->shared_state.data() + arrival.to, arrival.state.data(), arrival.state.size());
    Discharge(2 * arrival.data.size() + sizeof(BulkArrival));
    return true;
  });
}

}  // namespace upskill::ptx
