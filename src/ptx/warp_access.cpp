// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a whole warp at once, where there is nothing to report. Whatever doesn't fit here goes through
// memory_access.cpp lane by lane, which gives the same results.
#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;

bool InWindow(std::uint64_t address, std::uint64_t window) {
  return address >= window && address < window + kWindowBytes;
}

template <typename T>
T StateWord(const std::uint8_t* state) {
  T word = 0;
  std::memcpy(&word, state, sizeof word);
  return word;
}

// Bits that aren't zero if one of the bytes is neither Writer::kHost nor Writer::kDevice.
template <typename T>
T NotWritten(const std::uint8_t* state) {
  return static_cast<T>(static_cast<T>(StateWord<T>(state) - static_cast<T>(kOnes)) & static_cast<T>(kOnes * 0xFEU));
}

// Bits that aren't zero if one of the bytes is kGap or kAsyncPending.
template <typename T>
T NotOrdinary(const std::uint8_t* state) {
  const T word = StateWord<T>(state);
  return static_cast<T>((word & static_cast<T>(kOnes * 0xFCU)) | (word & (word >> 1U) & static_cast<T>(kOnes)));
}

// Whether `test` of the state is zero for all lanes.
template <typename T, typename Test>
bool AllLanes(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes, Test test) {
  T bad = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const std::uint8_t* state = access.state + access.offsets[static_cast<std::size_t>(std::countr_zero(rest))];
    for (std::uint32_t at = 0; at < bytes; at += sizeof(T)) bad = static_cast<T>(bad | test(state + at));
  }
  return bad == 0;
}

bool AllWritten(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes) {
  if (bytes >= 8) return AllLanes<std::uint64_t>(access, mask, bytes, NotWritten<std::uint64_t>);
  if (bytes == 4) return AllLanes<std::uint32_t>(access, mask, bytes, NotWritten<std::uint32_t>);
  return AllLanes<std::uint8_t>(access, mask, bytes, NotWritten<std::uint8_t>);
}

bool AllOrdinary(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes) {
  if (bytes >= 8) return AllLanes<std::uint64_t>(access, mask, bytes, NotOrdinary<std::uint64_t>);
  if (bytes == 4) return AllLanes<std::uint32_t>(access, mask, bytes, NotOrdinary<std::uint32_t>);
  return AllLanes<std::uint8_t>(access, mask, bytes, NotOrdinary<std::uint8_t>);
}

template <typename T>
void GatherLanes(char* to, const WarpAccess& access, std::uint32_t mask) {
  auto* values = reinterpret_cast<T*>(to);
  if (mask == 0xFFFFFFFFU) {
    for (std::size_t lane = 0; lane < 32; ++lane) std::memcpy(values + lane, access.data + access.offsets[lane], sizeof(T));
    return;
  }
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    std::memcpy(values + lane, access.data + access.offsets[lane], sizeof(T));
  }
}

}  // namespace

// The addresses of the lanes, converted to the space that all of them are in; those of other lanes are that of an
// active one.
std::optional<WarpAccess> Machine::ResolveTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base,
                                                   std::uint32_t bytes) {
  if (inst.address_mode == AddressMode::kFrame || inst.space == Space::kLocal || mask == 0) return std::nullopt;
  std::array<std::uint64_t, 32> addresses{};
  const auto offset = static_cast<std::uint64_t>(inst.imm);
  if (inst.address_mode == AddressMode::kRegister32) {
    const auto* from = Register<std::uint32_t>(base);
    for (std::size_t i = 0; i < 32; ++i) addresses[i] = static_cast<std::uint32_t>(from[i] + offset);
  } else {
    const auto* from = Register<std::uint64_t>(base);
    const std::uint64_t bits = inst.space == Space::kShared ? 0xFFFFFFFFU : ~std::uint64_t{0};
    for (std::size_t i = 0; i < 32; ++i) addresses[i] = (from[i] + offset) & bits;
  }
  const std::uint64_t some = addresses[static_cast<std::size_t>(std::countr_zero(mask))];
  if (mask != 0xFFFFFFFFU) {
    for (std::size_t i = 0; i < 32; ++i) addresses[i] = ((mask >> i) & 1U) != 0 ? addresses[i] : some;
  }
  std::uint64_t least = some;
  std::uint64_t most = some;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < 32; ++i) {
    least = std::min(least, addresses[i]);
    most = std::max(most, addresses[i]);
    bits |= addresses[i];
  }
  if ((bits & (bytes - 1)) != 0 || most - least > 0x7FFFFFFFU) return std::nullopt;
  WarpAccess access;
  access.space = Space::kGlobal;
  if (inst.space == Space::kShared || (inst.space == Space::kGeneric && InWindow(least, kSharedWindow))) {
    const std::uint64_t window = inst.space == Space::kShared ? 0 : kSharedWindow;
    if (most - window + bytes > block_->shared_state.size()) return std::nullopt;
    access.space = Space::kShared;
    access.first = least - window;
    access.data = block_->shared.data() + access.first;
    access.state = block_->shared_state.data() + access.first;
  } else {
    // The windows are far from all allocations.
    Allocation* allocation = last_allocation_;
    if (allocation == nullptr || least < allocation->address || least >= allocation->End()) {
      allocation = memory_.Find(least);
      if (allocation == nullptr) return std::nullopt;
      last_allocation_ = allocation;
    }
    if (most >= allocation->End() || bytes > allocation->End() - most) return std::nullopt;
    const std::size_t at = least - allocation->address;
    access.first = least;
    access.data = allocation->data.data() + at;
    access.state = reinterpret_cast<std::uint8_t*>(allocation->writer.data() + at);
    access.read_only = allocation->read_only;
  }
  for (std::size_t i = 0; i < 32; ++i) access.offsets[i] = static_cast<std::uint32_t>(addresses[i] - least);
  return access;
}

// The accesses of one lane, in its cells of four bytes; what isn't plainly in order is checked in full.
void Machine::WatchLane(const Inst& inst, const WarpAccess& access, std::uint32_t lane, std::uint32_t bytes, bool writes,
                        bool same_value, MemoryAccess& watched) {
  const std::uint64_t address = access.first + access.offsets[lane];
  watched.thread = static_cast<std::uint16_t>(warp_->index * 32 + lane);
  if (bytes < 4) watched.bytes = static_cast<std::uint8_t>(((1U << bytes) - 1) << (address % 4));
  bool plain = true;
  for (std::uint64_t at = address & ~std::uint64_t{3}; at < address + bytes && plain; at += 4) {
    ShadowCell* cell = access.space == Space::kShared ? &block_->shared_shadow[at / 4] : races_.GlobalCell(at);
    if (cell == nullptr) return;
    plain = writes ? RaceChecker::PlainWrite(*cell, block_->clock, watched)
                   : RaceChecker::PlainRead(*cell, block_->clock, watched);
  }
  if (plain) return;
  Target target;
  target.data = access.data + access.offsets[lane];
  target.state = access.state + access.offsets[lane];
  target.space = access.space;
  target.address = address;
  CheckRace(inst, lane, target, bytes, writes, false, same_value);
}

void Machine::WatchReads(const Inst& inst, const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes) {
  MemoryAccess watched = Watched(inst);
  const bool words = access.space == Space::kShared && bytes == 4;
  ShadowCell* const cells = words ? block_->shared_shadow.data() + access.first / 4 : nullptr;
  std::uint32_t last = kNowhere;
  std::uint32_t repeated = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    // Of lanes that read the same, two are enough.
    repeated = access.offsets[lane] == last ? repeated + 1 : 0;
    if (repeated > 1) continue;
    last = access.offsets[lane];
    if (words) {
      watched.thread = static_cast<std::uint16_t>(warp_->index * 32 + lane);
      if (RaceChecker::PlainRead(cells[last / 4], block_->clock, watched)) continue;
    }
    WatchLane(inst, access, lane, bytes, false, false, watched);
  }
}

MemoryAccess Machine::Watched(const Inst& inst) const {
  MemoryAccess watched;
  watched.time = races_.Now() & kMostTime;
  watched.pc = LocationPc(inst) & kMostPc;
  watched.block = block_->index;
  watched.bytes = 0xF;
  return watched;
}

// Returns false if the lanes must be looked at one by one: then nothing has happened.
bool Machine::LoadTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint32_t bytes) {
  const std::uint32_t size = bytes / inst.vector;
  if (inst.ordering != Ordering::kWeak || size * inst.vector != bytes || !std::has_single_bit(bytes)) return false;
  const std::optional<WarpAccess> access = ResolveTogether(inst, mask, base, bytes);
  if (!access) return false;
  const bool checks = options_.check_uninitialised || access->space == Space::kShared;
  if (checks && !AllWritten(*access, mask, bytes)) return false;
  if (options_.check_races && !access->read_only) WatchReads(inst, *access, mask, bytes);
  const bool extends = IsSigned(inst.type) && size < inst.slot_size;
  for (std::uint32_t e = 0; e < inst.vector; ++e) {
    WarpAccess part = *access;
    part.data += std::size_t{e} * size;
    char* to = Register<char>(Operand(inst, e));
    if (size == 4 && inst.slot_size == 4) {
      GatherLanes<std::uint32_t>(to, part, mask);
    } else if (size == 8 && inst.slot_size == 8) {
      GatherLanes<std::uint64_t>(to, part, mask);
    } else if (size == 2 && inst.slot_size == 2) {
      GatherLanes<std::uint16_t>(to, part, mask);
    } else {
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        std::array<std::uint8_t, 16> value{};
        std::memcpy(value.data(), part.data + part.offsets[lane], size);
        if (extends && (value[size - 1] & 0x80U) != 0) std::fill(value.begin() + size, value.end(), std::uint8_t{0xFF});
        std::memcpy(to + lane * inst.slot_size, value.data(), inst.slot_size);
      }
    }
    if (!options_.check_uninitialised) continue;
    Taint& taint = frame_->taints[Operand(inst, e) / 64];
    taint.lanes &= ~mask;
    taint.computed &= ~mask;
  }
  if (options_.count_memory) CountTogether(*access, mask, bytes, false);
  return true;
}

bool Machine::StoreTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint32_t bytes) {
  const std::uint32_t size = bytes / inst.vector;
  if (inst.ordering != Ordering::kWeak || inst.space == Space::kConst || !std::has_single_bit(bytes)) return false;
  for (std::uint32_t e = 0; e < inst.vector; ++e) {
    if ((TaintOf(Operand(inst, e)) & mask) != 0) return false;
  }
  const std::optional<WarpAccess> access = ResolveTogether(inst, mask, base, bytes);
  if (!access || access->read_only) return false;
  if (access->space == Space::kShared && !AllOrdinary(*access, mask, bytes)) return false;
  MemoryAccess watched = Watched(inst);
  std::array<std::uint8_t, 128> data{};
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    for (std::uint32_t e = 0; e < inst.vector; ++e) {
      const char* from = Register<char>(Operand(inst, e)) + std::size_t{lane} * inst.slot_size;
      if (size == 4) {
        std::memcpy(data.data() + std::size_t{e} * 4, from, 4);
      } else {
        std::memcpy(data.data() + std::size_t{e} * size, from, size);
      }
    }
    std::uint8_t* to = access->data + access->offsets[lane];
    if (options_.check_races) {
      const bool same = std::memcmp(to, data.data(), bytes) == 0;
      WatchLane(inst, *access, lane, bytes, true, same, watched);
    }
    if (bytes == 4) {
      std::memcpy(to, data.data(), 4);
      std::memset(access->state + access->offsets[lane], static_cast<int>(Writer::kDevice), 4);
    } else {
      std::memcpy(to, data.data(), bytes);
      std::memset(access->state + access->offsets[lane], static_cast<int>(Writer::kDevice), bytes);
    }
  }
  if (options_.count_memory) CountTogether(*access, mask, bytes, true);
  return true;
}

// As CountAccess, for the frequent patterns: one address, or one range from lane to lane.
void Machine::CountTogether(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes, bool writes) {
  bool same = true;
  bool range = true;
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    same = same && access.offsets[lane] == access.offsets[0];
    range = range && access.offsets[lane] == lane * bytes;
  }
  Counters& counters = outcome_.counters;
  if (access.space == Space::kShared && (same || range)) {
    ++counters.shared_requests;
    return;
  }
  if (same || range) {
    const std::uint64_t last = access.first + (same ? bytes : 32U * bytes) - 1;
    (writes ? counters.global_store_requests : counters.global_load_requests) += 1;
    (writes ? counters.global_store_sectors : counters.global_load_sectors) += last / 32 - access.first / 32 + 1;
    (writes ? counters.global_store_bytes : counters.global_load_bytes) +=
        static_cast<std::uint64_t>(std::popcount(mask)) * bytes;
    return;
  }
  std::array<std::uint64_t, 32> addresses{};
  for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = access.first + access.offsets[lane];
  CountAccess(mask, addresses, bytes, access.space, writes);
}

}  // namespace upskill::ptx
