// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies, which deliver only when they are waited for, and mbarriers.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::size_t kMostCopies = 65'536;  // of one thread, not waited for
constexpr std::int64_t kMostCount = (1 << 20) - 1;

}  // namespace

// cp.async: the operands are the source's address, the target's, and perhaps how many bytes to read.
void Machine::AsyncCopyTo(const Inst& inst, std::uint32_t mask) {
  Inst from = inst;
  from.space = Space::kGlobal;
  from.imm = static_cast<std::int32_t>(inst.target);
  from.address_mode = inst.sub == 1 ? AddressMode::kRegister32 : AddressMode::kRegister64;
  const std::uint32_t bytes = inst.vector;
  if (options_.check_races) races_.Tick();
  std::array<std::uint64_t, 32> addresses{};
  warp_->copies.resize(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    AsyncCopy copy;
    copy.bytes = inst.vector;
    copy.pc = LocationPc(inst);
    copy.known.fill(true);
    Target target;
    if (!Resolve(inst, lane, AddressOf(inst, lane, inst.op[1]), bytes, "write", target)) continue;
    if (target.space != Space::kShared || target.block != block_) continue;
    copy.to = target.address;
    const std::uint32_t wanted = inst.sources > 2 ? Register<std::uint32_t>(inst.op[2])[lane] : bytes;
    const std::uint32_t read = std::min(wanted, bytes);
    Target source;
    const std::uint64_t address =
        from.address_mode == AddressMode::kRegister32
            ? Register<std::uint32_t>(inst.op[0])[lane] + static_cast<std::uint64_t>(from.imm)
            : Register<std::uint64_t>(inst.op[0])[lane] + static_cast<std::uint64_t>(from.imm);
    addresses[lane] = address;
    if (read > 0) {
      if (address % bytes != 0) {
        Report(FindingKind::kMisaligned, inst, lane,
               "Invalid __global__ read of size " + std::to_string(bytes) + " bytes",
               "the source of cp.async is misaligned", address, bytes, Space::kGlobal);
        continue;
      }
      from.vector = 1;
      if (!ResolveGlobal(inst, lane, address, read, "read", source)) continue;
      std::memcpy(copy.data.data(), source.data, read);
      for (std::uint32_t i = 0; i < read; ++i) copy.known[i] = source.state[i] != 0;
      if (options_.check_races) CheckRace(inst, lane, source, read, false, false, false);
    }
    if (options_.check_races) CheckRace(inst, lane, target, bytes, true, false, false);
    std::memset(target.state, kAsyncPending, bytes);
    std::vector<AsyncCopy>& open = warp_->copies[lane].open;
    if (open.size() >= kMostCopies) continue;
    open.push_back(copy);
    Charge(sizeof(AsyncCopy));
  }
  if (options_.count_memory) CountAccess(mask, addresses, bytes, Space::kGlobal, false);
}

void Machine::AsyncCommit(std::uint32_t mask) {
  warp_->copies.resize(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    AsyncCopies& copies = warp_->copies[lane];
    if (copies.groups.size() >= kMostCopies) continue;  // the open group becomes part of the next one
    copies.groups.push_back(std::move(copies.open));
    copies.open.clear();
    Charge(sizeof(std::vector<AsyncCopy>));
  }
}

// Delivers copies of a thread of the current warp.
void Machine::Perform(std::uint32_t lane, std::vector<AsyncCopy>& copies) {
  Discharge(copies.size() * sizeof(AsyncCopy));
  for (const AsyncCopy& copy : copies) {
    std::memcpy(block_->shared.data() + copy.to, copy.data.data(), copy.bytes);
    std::uint8_t* const state = block_->shared_state.data() + copy.to;
    for (std::size_t i = 0; i < copy.bytes; ++i)
      state[i] = copy.known[i] ? static_cast<std::uint8_t>(Writer::kDevice) : 0;
    if (!options_.check_races) continue;
    Target target;
    target.space = Space::kShared;
    target.address = copy.to;
    CheckRace(program_.code[copy.pc], lane, target, copy.bytes, true, false, false);
  }
  copies.clear();
}

// Waits until at most `imm` of the youngest groups are under way; -1: for all, also those that aren't committed.
void Machine::AsyncWait(const Inst& inst, std::uint32_t mask) {
  warp_->copies.resize(32);
  if (options_.check_races) races_.Tick();
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    AsyncCopies& copies = warp_->copies[lane];
    const std::size_t left = inst.imm < 0 ? 0 : static_cast<std::size_t>(inst.imm);
    while (copies.groups.size() > left) {
      Perform(lane, copies.groups.front());
      if (copies.open.empty()) copies.open.swap(copies.groups.front());  // keeps its memory for the next ones
      copies.groups.erase(copies.groups.begin());
      Discharge(sizeof(std::vector<AsyncCopy>));
    }
    if (inst.imm < 0) Perform(lane, copies.open);
  }
}

// Perhaps one of another block of the cluster.
Mbarrier* Machine::FindMbarrier(const Inst& inst, std::uint32_t lane, std::uint32_t base, Target& place) {
  if (!Resolve(inst, lane, AddressOf(inst, lane, base), 8, "access", place) || place.space != Space::kShared) {
    return nullptr;
  }
  const auto found = place.block->mbarriers.find(place.address);
  if (found == place.block->mbarriers.end() || !found->second.valid) {
    Report(FindingKind::kBadSynchronisation, inst, lane, "mbarrier used before it is initialised", {}, place.address, 8,
           Space::kShared);
    return nullptr;
  }
  return &found->second;
}

void Machine::Arrive(Mbarrier& barrier, std::int64_t count) {
  barrier.pending -= count;
  if (barrier.pending > 0 || barrier.transactions != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
}

void Machine::AsyncArrive(const Inst& inst, std::uint32_t mask) {
  warp_->copies.resize(32);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    Target place;
    Mbarrier* barrier = FindMbarrier(inst, lane, inst.op[0], place);
    if (barrier == nullptr) continue;
    AsyncCopies& copies = warp_->copies[lane];
    if (options_.check_races) races_.Tick();
    for (std::vector<AsyncCopy>& group : copies.groups) Perform(lane, group);
    Discharge(copies.groups.size() * sizeof(std::vector<AsyncCopy>));
    copies.groups.clear();
    Perform(lane, copies.open);
    if (options_.check_races) {
      const ThreadId self{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)};
      races_.Release(SharedScope(place), place.address, races_.Everything(block_->clock, self));
    }
    // Without .noinc, the count is raised first, so that the arrival changes nothing.
    if (inst.sub == 1) Arrive(*barrier, 1);
  }
}

// init, inval, arrive, arrive.expect_tx, arrive_drop and expect_tx. Sources: the value, then the address.
void Machine::MbarrierChange(const Inst& inst, std::uint32_t mask) {
  const std::uint32_t value_operand = inst.op[inst.results];
  const std::uint32_t base = inst.op[inst.results + 1U];
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::int64_t value = Register<std::uint32_t>(value_operand)[lane];
    if (inst.action == Action::kMbarrierInit) {
      Target target;
      if (!Resolve(inst, lane, AddressOf(inst, lane, base), 8, "write", target) || target.space != Space::kShared)
        continue;
      std::memset(target.state, static_cast<int>(Writer::kDevice), 8);
      const std::int64_t count = std::clamp<std::int64_t>(value, 1, kMostCount);
      target.block->mbarriers[target.address] = Mbarrier{0, count, count, 0, true};
      continue;
    }
    Target place;
    Mbarrier* barrier = FindMbarrier(inst, lane, base, place);
    if (barrier == nullptr) continue;
    if (inst.action == Action::kMbarrierInval) {
      barrier->valid = false;
      continue;
    }
    if (inst.results > 0) Register<std::uint64_t>(inst.op[0])[lane] = barrier->phase;
    if (inst.action == Action::kMbarrierExpect) {
      barrier->transactions += value;
      continue;
    }
    if (options_.check_races) {
      const ThreadId self{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)};
      races_.Release(SharedScope(place), place.address, races_.Everything(block_->clock, self));
      races_.Tick();
    }
    if (inst.sub == kArriveExpect) barrier->transactions += value;
    if (inst.sub == kArriveDrop) barrier->expected = std::max<std::int64_t>(barrier->expected - value, 1);
    Arrive(*barrier, inst.sub == kArriveExpect ? 1 : value);
  }
  if (inst.results > 0 && options_.check_uninitialised) frame_->taints[inst.op[0] / 64].lanes &= ~mask;
}

// A wait that isn't over lets others run.
Step Machine::MbarrierTest(const Inst& inst, std::uint32_t mask) {
  std::uint32_t p = 0;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    Target place;
    const Mbarrier* barrier = FindMbarrier(inst, lane, inst.op[2], place);
    const bool over =
        barrier == nullptr ||
        (inst.sub == kTestParity ? (barrier->phase & 1U) != (Register<std::uint32_t>(inst.op[1])[lane] & 1U)
                                 : barrier->phase != Register<std::uint64_t>(inst.op[1])[lane]);
    if (!over) continue;
    p |= 1U << lane;
    if (barrier != nullptr) DeliverBulk(*place.block, place.address, barrier->phase);
    if (options_.check_races) {
      races_.Acquire(block_->clock, ThreadId{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)},
                     SharedScope(place), place.address);
    }
  }
  std::uint32_t& predicate = *Register<std::uint32_t>(inst.op[0]);
  predicate = (predicate & ~mask) | p;
  if (options_.check_uninitialised) frame_->taints[inst.op[0] / 64].lanes &= ~mask;
  if (p != mask) {
    give_way_ = true;
    ++warp_->fragments[fragment_].turns;
  }
  return Step::kNext;
}

}  // namespace upskill::ptx
