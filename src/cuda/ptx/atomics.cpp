// SPDX-License-Identifier: Apache-2.0
// Atomics, and how accesses are ordered.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/ptx/machine.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

template <typename T>
T IntegerResult(AtomicOp op, T old, T value) {
  using U = std::make_unsigned_t<T>;
  switch (op) {
    case AtomicOp::kAdd:
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
    case AtomicOp::kMin:
      return std::min(old, value);
    case AtomicOp::kMax:
      return std::max(old, value);
    case AtomicOp::kInc:
      return static_cast<U>(old) >= static_cast<U>(value) ? T{0} : static_cast<T>(old + 1);
    case AtomicOp::kDec:
      return old == 0 || static_cast<U>(old) > static_cast<U>(value) ? value : static_cast<T>(old - 1);
    case AtomicOp::kAnd:
      return static_cast<T>(old & value);
    case AtomicOp::kOr:
      return static_cast<T>(old | value);
    case AtomicOp::kXor:
      return static_cast<T>(old ^ value);
    default:
      return value;
  }
}

std::uint64_t HalfResult(AtomicOp op, std::uint64_t old, std::uint64_t value, bool bfloat) {
  const auto decode = [&](std::uint64_t bits) {
    return static_cast<double>(bfloat ? BfloatToFloat(static_cast<std::uint16_t>(bits))
                                      : HalfToFloat(static_cast<std::uint16_t>(bits)));
  };
  const double a = decode(old);
  const double b = decode(value);
  const double result = op == AtomicOp::kMin ? std::min(a, b) : op == AtomicOp::kMax ? std::max(a, b) : OddAdd(a, b);
  return bfloat ? BfloatFromDouble(result) : HalfFromDouble(result);
}

std::uint64_t NewValue(const Inst& inst, std::uint64_t old, std::uint64_t value) {
  if (inst.atomic == AtomicOp::kExch) return value;
  switch (inst.type) {
    case Type::kF32: {
      const float sum = std::bit_cast<float>(static_cast<std::uint32_t>(old)) +
                        std::bit_cast<float>(static_cast<std::uint32_t>(value));
      return std::bit_cast<std::uint32_t>(sum);
    }
    case Type::kF64:
      return std::bit_cast<std::uint64_t>(std::bit_cast<double>(old) + std::bit_cast<double>(value));
    case Type::kF16:
    case Type::kBf16:
      return HalfResult(inst.atomic, old, value, inst.type == Type::kBf16);
    case Type::kF16x2:
    case Type::kBf16x2: {
      const bool bfloat = inst.type == Type::kBf16x2;
      return HalfResult(inst.atomic, old & 0xFFFFU, value & 0xFFFFU, bfloat) |
             (HalfResult(inst.atomic, (old >> 16U) & 0xFFFFU, (value >> 16U) & 0xFFFFU, bfloat) << 16U);
    }
    default:
      break;
  }
  if (SizeOf(inst.type) == 8) {
    return IsSigned(inst.type) ? static_cast<std::uint64_t>(IntegerResult(inst.atomic, static_cast<std::int64_t>(old),
                                                                          static_cast<std::int64_t>(value)))
                               : IntegerResult(inst.atomic, old, value);
  }
  return IsSigned(inst.type)
             ? static_cast<std::uint32_t>(
                   IntegerResult(inst.atomic, static_cast<std::int32_t>(old), static_cast<std::int32_t>(value)))
             : IntegerResult(inst.atomic, static_cast<std::uint32_t>(old), static_cast<std::uint32_t>(value));
}

}  // namespace

void Machine::Atomic(const Inst& inst, std::uint32_t mask) {
  const bool cas = inst.atomic == AtomicOp::kCas;
  const std::uint32_t bytes = SizeOf(inst.type);
  const std::uint32_t first = inst.results;
  const std::uint32_t base = inst.address_mode == AddressMode::kFrame ? 0 : Operand(inst, first + (cas ? 2 : 1));
  if (inst.address_mode != AddressMode::kFrame) CheckUse(inst, base, mask);
  CheckUse(inst, Operand(inst, first), mask);
  const auto value_of = [&](std::uint32_t operand, std::uint32_t lane) {
    std::uint64_t value = 0;
    std::memcpy(&value, Register<char>(operand) + std::size_t{lane} * inst.slot_size, bytes);
    return value;
  };
  outcome_.counters.atomics += static_cast<std::uint64_t>(std::popcount(mask));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    Target target;
    std::uint64_t old = 0;
    if (options_.check_races) races_.Tick();
    if (Resolve(inst, lane, AddressOf(inst, lane, base), bytes, "atomic", target) && !target.read_only) {
      if (options_.check_uninitialised && target.space != Space::kLocal && KnownBytes(inst, lane, target, bytes) == 0) {
        ReportUninitialised(inst, lane, Taint{1U << lane, 0, LocationPc(inst)});
      }
      std::memcpy(&old, target.data, bytes);
      const std::uint64_t value = value_of(Operand(inst, first), lane);
      std::uint64_t result = cas ? old : NewValue(inst, old, value);
      if (cas && old == value) result = value_of(Operand(inst, first + 1), lane);
      if (options_.check_races && target.space != Space::kLocal) {
        Order(inst, lane, target, true, true);
        CheckRace(inst, lane, target, bytes, true, true, false);
      }
      if (result != old) ++changes_;
      std::memcpy(target.data, &result, bytes);
      std::memset(target.state, static_cast<int>(Writer::kDevice), bytes);
    }
    if (inst.results == 0) continue;
    std::memcpy(Register<char>(inst.op[0]) + std::size_t{lane} * inst.slot_size, &old, bytes);
  }
  if (inst.results > 0 && options_.check_uninitialised) frame_->taints[inst.op[0] / 64].lanes &= ~mask;
}

// What atomics, volatile accesses and those with acquire or release pass from one thread to another. More is passed on
// than the memory model says (a relaxed read acquires), so that right programs are never reported.
void Machine::Order(const Inst& inst, std::uint32_t lane, const Target& target, bool reads, bool writes) {
  if (!reads && !writes) return;
  BlockClock& clock = block_->clock;
  const ThreadId self{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)};
  const std::uint32_t scope = target.space == Space::kShared ? SharedScope(target) : 0;
  // What only the block may learn is kept under the block's own number, for global addresses, too. In shared memory,
  // scopes make no difference.
  const std::uint32_t own = target.space == Space::kShared ? scope : block_->index + 1;
  if (reads) races_.Acquire(clock, self, scope, target.address);
  if (reads && scope != own) races_.Acquire(clock, self, own, target.address);
  if (!writes) return;
  const bool releases = inst.ordering == Ordering::kRelease || inst.ordering == Ordering::kAcqRel;
  if (releases) races_.Fence(clock, self, inst.block_scope);
  const ThreadClock& thread = clock.threads[self.thread];
  if (scope == own) {
    races_.Release(scope, target.address, thread.fenced_in_block);
    return;
  }
  if (!inst.block_scope) races_.Release(scope, target.address, thread.fenced);
  if (inst.block_scope || thread.fenced_in_block != thread.fenced)
    races_.Release(own, target.address, thread.fenced_in_block);
}

void Machine::Fence(const Inst& inst, std::uint32_t mask) {
  if (!options_.check_races) return;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const ThreadId self{block_->index, static_cast<std::uint16_t>(warp_->index * 32 + lane)};
    races_.Fence(block_->clock, self, inst.block_scope);
    if (inst.sub == 1) block_->clock.threads[self.thread].proxy_fenced = races_.Now();
  }
}

// Volatile and relaxed accesses don't race, but a thread that reads, and then writes over what another has written
// meanwhile without having seen it, loses that update.
void Machine::CheckLostUpdate(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes,
                              bool writes) {
  MemoryAccess access = Watched(inst);
  access.thread = static_cast<std::uint16_t>(warp_->index * 32 + lane);
  access.strong = true;
  const std::uint32_t scope = target.space == Space::kShared ? SharedScope(target) : 0;
  if (!writes) {
    races_.NoteStrongRead(scope, target.address, access);
    return;
  }
  const std::optional<MemoryAccess> lost = races_.StrongWrite(scope, target.address, access);
  if (lost && !races_.Knows(block_->clock, access.Thread(), *lost)) {
    ReportRace(inst, lane, target, bytes, true, Conflict{*lost, true});
  }
}

// Strong accesses don't race, and order nothing else either. Two uses are wrong all the same: to read data after a flag
// that its writer set later, without a fence, and to rely on the lanes of a warp to run in step.
void Machine::CheckStrongRead(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes,
                              const ShadowCell& cell, const MemoryAccess& access) {
  const MemoryAccess& write = cell.write;
  const ThreadId self = access.Thread();
  if (inst.action == Action::kStore) return;  // which sees nothing of what it overwrites
  if (write.time == 0 || !write.strong || write.Thread() == self) return;
  std::uint64_t& seen = block_->clock.threads[self.thread].seen[ThreadKey(write.Thread())];
  const bool plain = inst.action == Action::kLoad && program_.code[write.pc].action == Action::kStore;
  const bool in_warp = write.block == self.block && write.Warp() == self.Warp();
  if (plain && (seen > write.time || (in_warp && !IsPolled(inst))) && !races_.Knows(block_->clock, self, write)) {
    ReportRace(inst, lane, target, bytes, false, Conflict{write, true});
  }
  seen = std::max<std::uint64_t>(seen, write.time);
}

// Whether the innermost loop around the load only waits: it writes nothing.
bool Machine::IsPolled(const Inst& inst) const {
  const auto pc = static_cast<std::uint32_t>(&inst - program_.code.data());
  const Function& function = program_.functions[frame_->function];
  for (std::uint32_t end = pc; end < function.end; ++end) {
    const Inst& branch = program_.code[end];
    if (branch.action != Action::kBranch || branch.target > pc || branch.target < function.entry) continue;
    return std::none_of(program_.code.begin() + branch.target, program_.code.begin() + end, [](const Inst& one) {
      return one.action == Action::kStore || one.action == Action::kAtomic || one.action == Action::kBarrier;
    });
  }
  return false;
}

// What threads have written to shared memory, asynchronous copies see only after a fence between the two ways to access
// it: of the thread that wrote it, or of the one that starts the copy.
void Machine::CheckProxyFence(const Inst& inst, std::uint32_t lane, const Target& from, std::uint32_t bytes) {
  if (!options_.check_races || from.block != block_) return;
  const std::vector<ThreadClock>& threads = block_->clock.threads;
  const std::uint64_t own = threads[warp_->index * 32 + lane].proxy_fenced;
  for (std::uint64_t at = from.address; at < from.address + bytes; at += 4) {
    const MemoryAccess& write = block_->shared_shadow[at / 4].write;
    if (write.time <= own || write.block != block_->index) continue;
    const Action action = program_.code[write.pc].action;
    if (action == Action::kBulkCopy || action == Action::kTensorCopy) continue;
    if (threads[write.thread].proxy_fenced >= write.time) continue;
    Report(FindingKind::kBadSynchronisation, inst, lane,
           "Bulk copy from __shared__ memory without fence.proxy.async after a thread's write to it",
           fmt::format("thread ({},{},{}) wrote it; the fence belongs between the write and the barrier",
                       ThreadDim(write.thread).x, ThreadDim(write.thread).y, ThreadDim(write.thread).z),
           at, bytes, Space::kShared);
    return;
  }
}

void Machine::CheckRace(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes, bool writes,
                        bool strong, bool same_value) {
  if (target.read_only) return;
  MemoryAccess access = Watched(inst);
  access.thread = static_cast<std::uint16_t>(warp_->index * 32 + lane);
  access.strong = strong;
  access.block_scope = strong && inst.block_scope;
  Block& owner = target.block == nullptr ? *block_ : *target.block;
  for (std::uint64_t at = target.address; at < target.address + bytes;) {
    const std::uint64_t next = std::min<std::uint64_t>(at / 4 * 4 + 4, target.address + bytes);
    access.bytes = static_cast<std::uint8_t>(((1U << (next - at)) - 1) << (at % 4));
    ShadowCell* cell = target.space == Space::kShared ? &owner.shared_shadow[at / 4] : races_.GlobalCell(at);
    if (cell != nullptr) {
      if (strong) CheckStrongRead(inst, lane, target, bytes, *cell, access);
      const auto conflict = races_.Check(*cell, block_->clock, access, writes, same_value);
      if (conflict) ReportRace(inst, lane, target, bytes, writes, *conflict);
    }
    at = next;
  }
}

}  // namespace upskill::ptx
