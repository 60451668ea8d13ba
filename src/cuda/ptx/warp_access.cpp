// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a whole warp at once, where there is nothing to report. Whatever doesn't fit here goes through
// memory_access.cpp lane by lane, which gives the same results.
#include <algorithm>
#include <bit>
#include <cstring>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101ULL;

bool InWindow(std::uint64_t address, std::uint64_t window) {
  return address >= window && address < window + kWindowBytes;
}

template <typename T>
T WordAt(const std::uint8_t* state) {
  T word = 0;
  std::memcpy(&word, state, sizeof word);
  return word;
}

// Whether `test` gives zero for each word of the lanes' state; those that aren't active have the addresses of others.
template <typename T, typename Test>
bool AllWords(const WarpAccess& access, std::uint32_t bytes, Test test) {
  T bad = 0;
  const bool range = access.lanes.step == bytes;
  const std::size_t count = range || access.lanes.same ? 1 : 32;
  const std::size_t each = range ? std::size_t{32} * bytes : bytes;
  for (std::size_t lane = 0; lane < count; ++lane) {
    const std::uint8_t* state = access.state + access.lanes.offsets[lane];
    for (std::size_t at = 0; at < each; at += sizeof(T)) bad = static_cast<T>(bad | test(WordAt<T>(state + at)));
  }
  return bad == 0;
}

template <typename Test>
bool AllLanes(const WarpAccess& access, std::uint32_t bytes, Test test) {
  if (bytes >= 8 || access.lanes.step == bytes) return AllWords<std::uint64_t>(access, bytes, test);
  if (bytes == 4) return AllWords<std::uint32_t>(access, bytes, test);
  return AllWords<std::uint8_t>(access, bytes, test);
}

// Whether each byte is Writer::kHost or Writer::kDevice.
bool AllWritten(const WarpAccess& access, std::uint32_t bytes) {
  return AllLanes(access, bytes, []<typename T>(T word) {
    return static_cast<T>(static_cast<T>(word - static_cast<T>(kOnes)) & static_cast<T>(kOnes * 0xFEU));
  });
}

// Whether no byte is kGap or kAsyncPending.
bool AllOrdinary(const WarpAccess& access, std::uint32_t bytes) {
  return AllLanes(access, bytes, []<typename T>(T word) {
    return static_cast<T>((word & static_cast<T>(kOnes * 0xFCU)) | (word & (word >> 1U) & static_cast<T>(kOnes)));
  });
}

// Whether each bank of shared memory has to serve one word of 4 bytes at most.
bool OneWordPerBank(const WarpAccess& access) {
  constexpr std::uint32_t kNone = 0xFFFFFFFFU;
  std::array<std::uint32_t, 32> words{};
  words.fill(kNone);
  const auto start = static_cast<std::uint32_t>(access.first / 4);
  for (const std::uint32_t offset : access.lanes.offsets) {
    const std::uint32_t word = start + offset / 4;
    std::uint32_t& bank = words[word % 32];
    if (bank != word && bank != kNone) return false;
    bank = word;
  }
  return true;
}

// Loads values into registers of the same or another size.
template <typename To, typename T>
void GatherLanes(char* to, const std::uint8_t* from, const LaneAddresses& lanes, std::uint32_t mask) {
  auto* const values = reinterpret_cast<To*>(to);
  const auto gather = [&](std::size_t lane) {
    T value{};
    std::memcpy(&value, from + lanes.offsets[lane], sizeof value);
    values[lane] = static_cast<To>(value);  // NOLINT(bugprone-signed-char-misuse): the sign is extended
  };
  if (mask != 0xFFFFFFFFU) {
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1)
      gather(static_cast<std::size_t>(std::countr_zero(rest)));
  } else if (lanes.same) {
    gather(0);
    std::fill_n(values + 1, 31, values[0]);
  } else {
    for (std::size_t lane = 0; lane < 32; ++lane) gather(lane);
  }
}

template <typename T>
void GatherAs(char* to, const std::uint8_t* from, const LaneAddresses& lanes, std::uint32_t mask, std::uint32_t slot) {
  if (slot == 2) {
    GatherLanes<std::uint16_t, T>(to, from, lanes, mask);
  } else if (slot == 4) {
    GatherLanes<std::uint32_t, T>(to, from, lanes, mask);
  } else {
    GatherLanes<std::uint64_t, T>(to, from, lanes, mask);
  }
}

// Values that are narrower than the registers are extended by zeros or the sign. False for those of 16 bytes.
bool GatherAny(char* to, const std::uint8_t* from, const LaneAddresses& lanes, std::uint32_t mask, const Inst& inst) {
  const bool is_signed = IsSigned(inst.type);
  const auto as = [&](auto value) { GatherAs<decltype(value)>(to, from, lanes, mask, inst.slot_size); };
  switch (inst.slot_size > 8 ? 0 : SizeOf(inst.type)) {
    case 1:
      is_signed ? as(std::int8_t{}) : as(std::uint8_t{});
      return true;
    case 2:
      is_signed ? as(std::int16_t{}) : as(std::uint16_t{});
      return true;
    case 4:
      is_signed ? as(std::int32_t{}) : as(std::uint32_t{});
      return true;
    case 8:
      as(std::uint64_t{});
      return true;
    default:
      return false;
  }
}

// The last lane that writes to an address wins.
template <typename T>
void ScatterLanes(const WarpAccess& access, std::size_t at, const char* from, std::uint32_t slot, std::uint32_t mask) {
  std::uint8_t* const to = access.data + at;
  std::uint8_t* const state = access.state + at;
  constexpr auto kWriter = static_cast<int>(Writer::kDevice);
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    std::memcpy(to + access.lanes.offsets[lane], from + lane * slot, sizeof(T));
    std::memset(state + access.lanes.offsets[lane], kWriter, sizeof(T));
  }
}

void ScatterAs(const WarpAccess& access, std::size_t at, const char* from, std::uint32_t slot, std::uint32_t mask,
               std::uint32_t size) {
  switch (size) {
    case 1:
      return ScatterLanes<std::uint8_t>(access, at, from, slot, mask);
    case 2:
      return ScatterLanes<std::uint16_t>(access, at, from, slot, mask);
    case 4:
      return ScatterLanes<std::uint32_t>(access, at, from, slot, mask);
    default:
      return ScatterLanes<std::uint64_t>(access, at, from, slot, mask);
  }
}

}  // namespace

void Machine::AddressesTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, LaneAddresses& lanes) const {
  if (mask == 0) return;
  const auto offset = static_cast<std::uint64_t>(inst.imm);
  if (inst.address_mode == AddressMode::kFrame) {
    lanes.first = frame_->local_base + offset;
    lanes.bits = static_cast<std::uint32_t>(lanes.first);
    lanes.near = lanes.same = true;
    lanes.offsets.fill(0);
    return;
  }
  if (inst.address_mode == AddressMode::kRegister32) {
    return AddressesOfLanes(Register<std::uint32_t>(base), static_cast<std::uint32_t>(offset), mask, lanes);
  }
  const bool narrow = inst.space == Space::kShared || inst.space == Space::kLocal;
  const std::uint64_t kept = narrow ? 0xFFFFFFFFU : ~std::uint64_t{0};
  AddressesOfLanes(Register<std::uint64_t>(base), offset, kept, mask, lanes);
}

// Each lane has local memory of its own, behind that of the lane before it: `lanes` becomes what that means.
std::optional<WarpAccess> Machine::ResolveLocals(LaneAddresses& lanes, std::uint32_t mask, std::uint32_t bytes) {
  const std::uint32_t stride = warp_->local_stride;
  const std::uint64_t end = std::uint64_t{frame_->local_base} + program_.functions[frame_->function].local_bytes;
  const std::uint64_t first = InWindow(lanes.first, kLocalWindow) ? lanes.first - kLocalWindow : lanes.first;
  if (first + lanes.span + bytes > std::min<std::uint64_t>(end, stride)) return std::nullopt;
  const auto some = static_cast<std::uint32_t>(std::countr_zero(mask));
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    lanes.offsets[lane] += stride * (((mask >> lane) & 1U) != 0 ? lane : some);
  }
  lanes.same = false;
  lanes.step = 0;
  auto* const state = reinterpret_cast<std::uint8_t*>(warp_->local_writer.data());
  return WarpAccess{warp_->local.data() + first, state + first, first, Space::kLocal, false, lanes};
}

// Where the lanes access one variable's or allocation's space, if they do.
std::optional<WarpAccess> Machine::ResolveTogether(const Inst& inst, LaneAddresses& lanes, std::uint32_t mask,
                                                   std::uint32_t bytes) {
  if (!lanes.near || (lanes.bits & (bytes - 1)) != 0) return std::nullopt;
  if (inst.space == Space::kLocal || (inst.space == Space::kGeneric && InWindow(lanes.first, kLocalWindow))) {
    return ResolveLocals(lanes, mask, bytes);
  }
  WarpAccess access{nullptr, nullptr, lanes.first, Space::kShared, false, lanes};
  if (inst.space == Space::kShared || (inst.space == Space::kGeneric && InWindow(lanes.first, kSharedWindow))) {
    if (inst.space == Space::kGeneric) access.first -= kSharedWindow;
    if (access.first + lanes.span + bytes > block_->shared_state.size()) return std::nullopt;
    access.data = block_->shared.data() + access.first;
    access.state = block_->shared_state.data() + access.first;
    return access;
  }
  // The windows are far from all allocations.
  Allocation* allocation = last_allocation_;
  if (allocation == nullptr || lanes.first < allocation->address || lanes.first >= allocation->End()) {
    allocation = memory_.Find(lanes.first);
    if (allocation == nullptr) return std::nullopt;
    last_allocation_ = allocation;
  }
  const std::uint64_t at = lanes.first - allocation->address;
  if (at + lanes.span + bytes > allocation->data.size()) return std::nullopt;
  access.data = allocation->data.data() + at;
  access.state = reinterpret_cast<std::uint8_t*>(allocation->writer.data() + at);
  access.space = Space::kGlobal;
  access.read_only = allocation->read_only;
  return access;
}

// The accesses of one lane, in its cells of four bytes; what isn't plainly in order is checked in full.
void Machine::WatchLane(const Inst& inst, const WarpAccess& access, std::uint32_t lane, std::uint32_t bytes,
                        bool writes, bool same_value, MemoryAccess& watched) {
  const std::uint64_t address = access.first + access.lanes.offsets[lane];
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
  target.data = access.data + access.lanes.offsets[lane];
  target.state = access.state + access.lanes.offsets[lane];
  target.space = access.space;
  target.address = address;
  CheckRace(inst, lane, target, bytes, writes, false, same_value);
}

void Machine::WatchReads(const Inst& inst, const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes) {
  MemoryAccess watched = Watched(inst);
  const auto parts = std::bit_cast<std::array<std::uint64_t, 2>>(watched);
  const std::uint64_t warp_part = parts[1] + (std::uint64_t{warp_->index} << 37U);
  const bool words = access.space == Space::kShared && bytes == 4;
  ShadowCell* const cells = words ? block_->shared_shadow.data() + access.first / 4 : nullptr;
  std::uint32_t last = kNowhere;
  std::uint32_t repeated = 0;
  for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    // Of lanes that read the same, two are enough.
    repeated = access.lanes.offsets[lane] == last ? repeated + 1 : 0;
    if (repeated > 1) continue;
    last = access.lanes.offsets[lane];
    if (words) {
      // Made in registers: a copy of what has just been stored in parts would wait for it.
      const std::array<std::uint64_t, 2> own{parts[0], warp_part + (std::uint64_t{lane} << 32U)};
      if (RaceChecker::PlainRead(cells[last / 4], block_->clock, std::bit_cast<MemoryAccess>(own))) continue;
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
  if ((options_.check_races && inst.ordering != Ordering::kWeak) || size * inst.vector != bytes ||
      !std::has_single_bit(bytes))
    return false;
  LaneAddresses lanes;
  AddressesTogether(inst, mask, base, lanes);
  const std::optional<WarpAccess> access = ResolveTogether(inst, lanes, mask, bytes);
  if (!access) return false;
  if (claimer_ && !ClaimTogether(*access, mask, bytes, false)) return true;
  const bool checks = options_.check_uninitialised || access->space == Space::kShared;
  if (checks && !AllWritten(*access, bytes)) return false;
  if (options_.check_races && !access->read_only && access->space != Space::kLocal)
    WatchReads(inst, *access, mask, bytes);
  for (std::uint32_t e = 0; e < inst.vector; ++e) {
    const std::uint32_t operand = Operand(inst, e);
    const std::uint8_t* from = access->data + std::size_t{e} * size;
    char* to = Register<char>(operand);
    if (inst.vector == 1 && inst.slot_size == bytes && access->lanes.step == bytes) {
      std::memcpy(to, from, std::size_t{32} * bytes);
    } else if (!GatherAny(to, from, lanes, mask, inst)) {
      for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
        std::memcpy(to + lane * inst.slot_size, from + lanes.offsets[lane], size);
      }
    }
    if (!options_.check_uninitialised) continue;
    Taint& taint = frame_->taints[operand / 64];
    taint.lanes &= ~mask;
    taint.computed &= ~mask;
  }
  if (options_.count_memory) CountTogether(*access, mask, bytes, false);
  return true;
}

bool Machine::StoreTogether(const Inst& inst, std::uint32_t mask, std::uint32_t base, std::uint32_t bytes) {
  const std::uint32_t size = bytes / inst.vector;
  if ((options_.check_races && inst.ordering != Ordering::kWeak) || inst.space == Space::kConst ||
      !std::has_single_bit(bytes))
    return false;
  for (std::uint32_t e = 0; e < inst.vector; ++e) {
    if ((TaintOf(Operand(inst, e)) & mask) != 0) return false;
  }
  LaneAddresses lanes;
  AddressesTogether(inst, mask, base, lanes);
  const std::optional<WarpAccess> access = ResolveTogether(inst, lanes, mask, bytes);
  if (!access || access->read_only) return false;
  if (claimer_ && !ClaimTogether(*access, mask, bytes, true)) return true;
  if (access->space == Space::kShared && !AllOrdinary(*access, bytes)) return false;
  const bool watches = options_.check_races && access->space != Space::kLocal;
  if (!watches && size <= 8) {
    for (std::uint32_t e = 0; e < inst.vector; ++e) {
      const char* const from = Register<char>(Operand(inst, e));
      const std::size_t at = std::size_t{e} * size;
      if (inst.vector == 1 && inst.slot_size == bytes && access->lanes.step == bytes) {
        std::memcpy(access->data, from, std::size_t{32} * bytes);
        std::memset(access->state, static_cast<int>(Writer::kDevice), std::size_t{32} * bytes);
        continue;
      }
      ScatterAs(*access, at, from, inst.slot_size, mask, size);
    }
    if (options_.count_memory) CountTogether(*access, mask, bytes, true);
    return true;
  }
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
    std::uint8_t* to = access->data + access->lanes.offsets[lane];
    if (watches) {
      const bool same = bytes == 4 ? WordAt<std::uint32_t>(to) == WordAt<std::uint32_t>(data.data())
                                   : std::memcmp(to, data.data(), bytes) == 0;
      WatchLane(inst, *access, lane, bytes, true, same, watched);
    }
    if (bytes == 4) {
      std::memcpy(to, data.data(), 4);
      std::memset(access->state + access->lanes.offsets[lane], static_cast<int>(Writer::kDevice), 4);
    } else {
      std::memcpy(to, data.data(), bytes);
      std::memset(access->state + access->lanes.offsets[lane], static_cast<int>(Writer::kDevice), bytes);
    }
  }
  if (options_.count_memory) CountTogether(*access, mask, bytes, true);
  return true;
}

// As CountAccess, for the frequent patterns: one address, or one range from lane to lane.
void Machine::CountTogether(const WarpAccess& access, std::uint32_t mask, std::uint32_t bytes, bool writes) {
  const bool same = access.lanes.same;
  const bool range = access.lanes.step == bytes;
  Counters& counters = outcome_.counters;
  if (access.space == Space::kLocal) {
    ++counters.local_requests;
    return;
  }
  if (access.space == Space::kShared && (same || range || (bytes == 4 && OneWordPerBank(access)))) {
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
  for (std::size_t lane = 0; lane < 32; ++lane) addresses[lane] = access.first + access.lanes.offsets[lane];
  CountAccess(mask, addresses, bytes, access.space, writes);
}

}  // namespace upskill::ptx
