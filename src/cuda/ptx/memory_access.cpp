// SPDX-License-Identifier: Apache-2.0
// Loads and stores, and what they are checked for.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {

std::uint64_t Machine::AddressOf(const Inst& inst, std::uint32_t lane, std::uint32_t base) const {
  const auto offset = static_cast<std::uint64_t>(inst.imm);
  switch (inst.address_mode) {
    case AddressMode::kFrame:
      return frame_->local_base + offset;
    case AddressMode::kRegister32: {
      const std::uint32_t address = Register<std::uint32_t>(base)[lane] + static_cast<std::uint32_t>(offset);
      return address;
    }
    default: {
      const std::uint64_t address = Register<std::uint64_t>(base)[lane] + offset;
      return inst.space == Space::kShared || inst.space == Space::kLocal ? address & 0xFFFFFFFFU : address;
    }
  }
}

bool Machine::ResolveGlobal(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                            const char* what, Target& target) {
  Allocation* allocation = last_allocation_;
  if (allocation == nullptr || address < allocation->address || address >= allocation->End()) {
    allocation = memory_.Find(address);
    if (allocation != nullptr) last_allocation_ = allocation;
  }
  if (allocation == nullptr || bytes > allocation->End() - address) {
    const char* space = inst.space == Space::kConst ? "constant" : "global";
    Report(FindingKind::kOutOfBounds, inst, lane, fmt::format("Invalid __{}__ {} of size {} bytes", space, what, bytes),
           fmt::format("Address {:#x} is out of bounds: {}", address, memory_.Describe(address)), address, bytes,
           Space::kGlobal);
    return false;
  }
  const std::size_t at = address - allocation->address;
  if (claimer_) {
    const bool writes = std::strcmp(what, "read") != 0;
    if ((writes || !allocation->read_only) && !claimer_->Claim(*allocation, at, bytes, writes)) {
      GiveUp();
      return false;
    }
  }
  target.data = allocation->data.data() + at;
  target.state = reinterpret_cast<std::uint8_t*>(allocation->writer.data() + at);
  target.space = Space::kGlobal;
  target.address = address;
  target.read_only = allocation->read_only;
  return true;
}

bool Machine::ResolveShared(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                            const char* what, Target& target) {
  Block* const owner = OwnerOf(address);
  if (owner != nullptr) address &= (std::uint64_t{1} << kRankShift) - 1;
  const bool inside = owner != nullptr && address + bytes <= owner->shared_state.size() &&
                      owner->shared_state[address] != kGap && owner->shared_state[address + bytes - 1] != kGap;
  if (!inside) {
    const bool ended = owner == nullptr && (address >> kRankShift) <= block_->cluster->blocks.size();
    Report(FindingKind::kOutOfBounds, inst, lane, fmt::format("Invalid __shared__ {} of size {} bytes", what, bytes),
           ended ? "the block of the cluster that it belongs to has ended"
                 : fmt::format("Address {:#x} is out of bounds", address),
           address, bytes, Space::kShared);
    return false;
  }
  target.data = owner->shared.data() + address;
  target.state = owner->shared_state.data() + address;
  target.space = Space::kShared;
  target.address = address;
  target.block = owner;
  if (owner != block_) NoteRemoteAccess(inst, lane, *owner, address, bytes);
  return true;
}

bool Machine::ResolveLocal(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                           const char* what, Target& target) {
  const std::uint64_t end = std::uint64_t{frame_->local_base} + program_.functions[frame_->function].local_bytes;
  if (address + bytes > end || address + bytes > warp_->local_stride) {
    Report(FindingKind::kOutOfBounds, inst, lane, fmt::format("Invalid __local__ {} of size {} bytes", what, bytes),
           fmt::format("Address {:#x} is out of bounds", address), address, bytes, Space::kLocal);
    return false;
  }
  const std::size_t at = std::size_t{lane} * warp_->local_stride + address;
  target.data = warp_->local.data() + at;
  target.state = reinterpret_cast<std::uint8_t*>(warp_->local_writer.data() + at);
  target.space = Space::kLocal;
  target.address = address;
  return true;
}

// Finds the bytes of an access and reports what is wrong with its address.
bool Machine::Resolve(const Inst& inst, std::uint32_t lane, std::uint64_t address, std::uint32_t bytes,
                      const char* what, Target& target) {
  Space space = inst.space;
  if (space == Space::kGeneric) {
    space = Space::kGlobal;
    if (address >= kSharedWindow && address < kSharedWindow + kWindowBytes) {
      space = Space::kShared;
      address -= kSharedWindow;
    } else if (address >= kLocalWindow && address < kLocalWindow + kWindowBytes) {
      space = Space::kLocal;
      address -= kLocalWindow;
    }
  }
  if (address % bytes != 0) {
    Report(FindingKind::kMisaligned, inst, lane,
           fmt::format("Invalid __{}__ {} of size {} bytes", SpaceName(space), what, bytes),
           fmt::format("Address {:#x} is misaligned", address), address, bytes, space);
    return false;
  }
  if (space == Space::kShared) return ResolveShared(inst, lane, address, bytes, what, target);
  if (space == Space::kLocal) return ResolveLocal(inst, lane, address, bytes, what, target);
  return ResolveGlobal(inst, lane, address, bytes, what, target);
}

std::uint32_t Machine::TaintOf(std::uint32_t operand) const {
  if (!options_.check_uninitialised || (operand & kConstantBit) != 0) return 0;
  return frame_->taints[operand / 64].lanes;
}

// The operand decides something, or is an address: a value that nobody wrote is an error.
void Machine::CheckUse(const Inst& inst, std::uint32_t operand, std::uint32_t mask) {
  const std::uint32_t lanes = TaintOf(operand) & mask;
  if (lanes == 0) return;
  ReportUninitialised(inst, static_cast<std::uint32_t>(std::countr_zero(lanes)), frame_->taints[operand / 64]);
  frame_->taints[operand / 64].lanes &= ~mask;  // once is enough
}

// How many bytes of the range somebody wrote. Reports bytes that an asynchronous copy hasn't delivered.
std::uint32_t Machine::KnownBytes(const Inst& inst, std::uint32_t lane, const Target& target, std::uint32_t bytes) {
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < bytes; ++i) {
    if (target.state[i] == kAsyncPending && target.space == Space::kShared) {
      Report(FindingKind::kAsyncRead, inst, lane,
             fmt::format("Read of {} bytes of __shared__ memory that an asynchronous copy still writes", bytes),
             "the copy must be waited for first (cp.async.wait_group, and a barrier for other threads)", target.address,
             bytes, Space::kShared);
      return bytes;
    }
    if (target.state[i] != 0) ++known;
  }
  return known;
}

void Machine::Load(const Inst& inst, std::uint32_t mask) {
  const std::uint32_t base = inst.sources > 0 ? Operand(inst, inst.results) : 0;
  const std::uint32_t size = SizeOf(inst.type);
  const std::uint32_t bytes = size * inst.vector;
  const bool strong = inst.ordering != Ordering::kWeak;
  if (inst.address_mode != AddressMode::kFrame) CheckUse(inst, base, mask);
  if (options_.check_races) races_.Tick();
  if (LoadTogether(inst, mask, base, bytes)) return;
  std::array<std::uint64_t, 32> addresses{};
  Space space = inst.space;
  std::array<std::uint32_t, 8> undefined{};
  std::uint32_t origin = LocationPc(inst);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint64_t address = AddressOf(inst, lane, base);
    Target target;
    const bool ok = Resolve(inst, lane, address, bytes, "read", target);
    addresses[lane] = ok ? target.address : address;
    if (ok) space = target.space;
    if (ok && options_.check_races && target.space != Space::kLocal) {
      Order(inst, lane, target, strong, false);
      CheckRace(inst, lane, target, bytes, false, strong, false);
      if (strong) CheckLostUpdate(inst, lane, target, bytes, false);
    }
    for (std::uint32_t e = 0; e < inst.vector; ++e) {
      std::array<std::uint8_t, 16> value{};
      if (ok) std::memcpy(value.data(), target.data + std::size_t{e} * size, size);
      if (IsSigned(inst.type) && size < inst.slot_size && (value[size - 1] & 0x80U) != 0) {
        std::fill(value.begin() + size, value.end(), std::uint8_t{0xFF});
      }
      std::memcpy(Register<char>(Operand(inst, e)) + std::size_t{lane} * inst.slot_size, value.data(), inst.slot_size);
      if (!ok || (!options_.check_uninitialised && target.space != Space::kShared)) continue;
      Target part = target;
      part.state += std::size_t{e} * size;
      if (KnownBytes(inst, lane, part, size) != 0) continue;
      undefined[e % 8] |= 1U << lane;
      if (target.space != Space::kShared) continue;
      const auto& origins = target.block->undefined_from;
      if (const auto found = origins.find(target.address + std::size_t{e} * size); found != origins.end()) {
        origin = found->second;
      }
    }
  }
  if (options_.check_uninitialised) {
    for (std::uint32_t e = 0; e < inst.vector; ++e) {
      Taint& taint = frame_->taints[Operand(inst, e) / 64];
      taint.lanes = (taint.lanes & ~mask) | undefined[e % 8];
      taint.computed &= ~mask;
      if (undefined[e % 8] != 0) taint.origin = origin;
    }
  }
  if (options_.count_memory) CountAccess(mask, addresses, bytes, space, false);
}

void Machine::Store(const Inst& inst, std::uint32_t mask) {
  const std::uint32_t base = inst.sources > inst.vector ? Operand(inst, inst.vector) : 0;
  const std::uint32_t size = SizeOf(inst.type);
  const std::uint32_t bytes = size * inst.vector;
  const bool strong = inst.ordering != Ordering::kWeak;
  if (inst.address_mode != AddressMode::kFrame) CheckUse(inst, base, mask);
  if (options_.check_races) races_.Tick();
  if (StoreTogether(inst, mask, base, bytes)) return;
  std::array<std::uint64_t, 32> addresses{};
  Space space = inst.space;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint64_t address = AddressOf(inst, lane, base);
    Target target;
    const bool ok = Resolve(inst, lane, address, bytes, "write", target);
    addresses[lane] = ok ? target.address : address;
    if (!ok) continue;
    space = target.space;
    if (target.read_only || inst.space == Space::kConst) {
      Report(FindingKind::kReadOnlyWrite, inst, lane,
             fmt::format("Invalid write of size {} bytes to read-only memory", bytes), memory_.Describe(target.address),
             target.address, bytes, Space::kGlobal);
      continue;
    }
    std::array<std::uint8_t, 128> data{};
    bool all_undefined = true;
    bool any_computed = false;
    for (std::uint32_t e = 0; e < inst.vector; ++e) {
      const std::uint32_t operand = Operand(inst, e);
      std::memcpy(data.data() + std::size_t{e} * size, Register<char>(operand) + std::size_t{lane} * inst.slot_size,
                  size);
      const bool undefined = ((TaintOf(operand) >> lane) & 1U) != 0;
      all_undefined = all_undefined && undefined;
      if (undefined) {
        const Taint& taint = frame_->taints[operand / 64];
        any_computed = any_computed || ((taint.computed >> lane) & 1U) != 0;
        // So that the load is named which read what nobody wrote, not one that reads its sum with something else.
        if (target.space == Space::kShared && taint.origin != kNowhere) {
          target.block->undefined_from[target.address + std::size_t{e} * size] = taint.origin;
        }
      }
      std::memset(target.state + std::size_t{e} * size, undefined ? 0 : static_cast<int>(Writer::kDevice), size);
    }
    if (target.space == Space::kGlobal && (all_undefined || any_computed)) {
      for (std::uint32_t e = 0; e < inst.vector; ++e) CheckUse(inst, Operand(inst, e), 1U << lane);
    }
    if (options_.check_races && target.space != Space::kLocal) {
      const bool same = std::memcmp(target.data, data.data(), bytes) == 0;
      Order(inst, lane, target, false, strong);
      CheckRace(inst, lane, target, bytes, true, strong, same);
      if (strong && !same) CheckLostUpdate(inst, lane, target, bytes, true);
    }
    std::memcpy(target.data, data.data(), bytes);
  }
  if (options_.count_memory) CountAccess(mask, addresses, bytes, space, true);
}

void Machine::LoadArgument(const Inst& inst, std::uint32_t mask) {
  const std::uint32_t size = SizeOf(inst.type);
  std::array<std::uint8_t, 16> value{};
  const auto at = static_cast<std::size_t>(inst.imm);
  if (at + size <= arguments_.size()) {
    std::memcpy(value.data(), arguments_.data() + at, size);
  } else {
    Report(FindingKind::kOutOfBounds, inst, static_cast<std::uint32_t>(std::countr_zero(mask)),
           fmt::format("Invalid read of size {} bytes of the kernel's parameters", size), {}, at, size, Space::kParam);
  }
  if (IsSigned(inst.type) && (value[size - 1] & 0x80U) != 0) {
    std::fill(value.begin() + size, value.end(), std::uint8_t{0xFF});
  }
  Broadcast(inst, mask, value);
  if (options_.check_uninitialised) Propagate(inst, mask);
}

void Machine::ConvertAddress(const Inst& inst, std::uint32_t mask) {
  const std::uint64_t window = inst.space == Space::kShared ? kSharedWindow : kLocalWindow;
  auto* d = Register<std::uint64_t>(inst.op[0]);
  const auto* a = Register<std::uint64_t>(inst.op[1]);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    d[lane] = inst.sub == 1 ? a[lane] - window : (a[lane] & 0xFFFFFFFFU) + window;
  }
}

void Machine::IsSpace(const Inst& inst, std::uint32_t mask) {
  const auto* a = Register<std::uint64_t>(inst.op[1]);
  std::uint32_t& p = *Register<std::uint32_t>(inst.op[0]);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const bool shared = a[lane] >= kSharedWindow && a[lane] < kSharedWindow + kWindowBytes;
    const bool local = a[lane] >= kLocalWindow && a[lane] < kLocalWindow + kWindowBytes;
    bool result = !shared && !local;
    // shared::cta is the block's own memory, shared::cluster also that of the others.
    if (inst.space == Space::kShared) {
      result = shared && (inst.sub == 1 || OwnerOf(a[lane] - kSharedWindow) == block_);
    }
    if (inst.space == Space::kLocal) result = local;
    if (inst.space == Space::kConst || inst.space == Space::kParam) result = false;
    p = result ? p | (1U << lane) : p & ~(1U << lane);
  }
}

}  // namespace upskill::ptx
