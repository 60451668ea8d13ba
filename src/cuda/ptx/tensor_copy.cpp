// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk.tensor: copies of boxes of tensors between global and shared memory, in tile mode.
#include <algorithm>
#include <cstring>

#include "cuda/ptx/forms.h"
#include "cuda/ptx/machine.h"
#include "cuda/ptx/tensor_map.h"

namespace upskill::ptx {
namespace {

constexpr std::uint64_t kBoxAlignment = 128;

}  // namespace

std::optional<TensorMap> Machine::TensorMapAt(const Inst& inst, std::uint32_t lane, std::uint64_t address) {
  Target place;
  if (address % 64 != 0) {
    Report(FindingKind::kMisaligned, inst, lane, "Invalid read of a tensor map", "its address isn't a multiple of 64",
           address, kTensorMapBytes, Space::kGlobal);
    return std::nullopt;
  }
  if (!ResolveGlobal(inst, lane, address, kTensorMapBytes, "read", place)) return std::nullopt;
  std::optional<TensorMap> map = ReadTensorMap({place.data, kTensorMapBytes});
  if (!map || map->rank != inst.vector) {
    Report(FindingKind::kBadSynchronisation, inst, lane, "Invalid tensor map",
           map ? "it has another number of dimensions than the copy" : "cuTensorMapEncodeTiled hasn't made it", address,
           kTensorMapBytes, Space::kGlobal);
    return std::nullopt;
  }
  return map;
}

// Operands: the address in shared memory, the map, the mbarrier (or 0), the coordinates, and for copies to several
// blocks of the cluster (flags 1) a mask of their ranks.
void Machine::TensorCopy(const Inst& inst, std::uint32_t mask) {
  for (std::uint32_t i = 0; i < inst.sources; ++i) CheckUse(inst, Operand(inst, i), mask);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    if (options_.check_races) races_.Tick();
    const std::uint64_t shared = Register<std::uint64_t>(Operand(inst, 0))[lane] & 0xFFFFFFFFU;
    const std::optional<TensorMap> map = TensorMapAt(inst, lane, Register<std::uint64_t>(Operand(inst, 1))[lane]);
    if (!map) continue;
    std::array<std::int32_t, 5> coordinates{};
    for (std::size_t i = 0; i < map->rank; ++i) coordinates[i] = Register<std::int32_t>(Operand(inst, 3 + i))[lane];
    if (shared % kBoxAlignment != 0 || map->box[0] * map->element_bytes % 16 != 0) {
      Report(FindingKind::kMisaligned, inst, lane,
             "Invalid copy of a box of " + std::to_string(map->BoxBytes()) + " bytes",
             "its place in shared memory must be a multiple of 128, and its rows multiples of 16 bytes", shared,
             map->BoxBytes(), Space::kShared);
      continue;
    }
    const std::vector<TensorPart> parts = PartsOfBox(*map, coordinates);
    if (inst.sub == kBulkToGlobal) {
      StoreBox(inst, lane, *map, parts, shared);
      continue;
    }
    const std::uint64_t barrier = Register<std::uint64_t>(Operand(inst, 2))[lane];
    if (inst.flags == 0) {
      LoadBox(inst, lane, *map, parts, shared, barrier);
      continue;
    }
    const std::uint32_t ranks = Register<std::uint16_t>(Operand(inst, 3 + std::size_t{map->rank}))[lane];
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
      if (((ranks >> rank) & 1U) == 0) continue;
      const std::uint64_t tag = std::uint64_t{rank + 1} << kRankShift;
      LoadBox(inst, lane, *map, parts, (shared & kRankOffsets) | tag, (barrier & kRankOffsets) | tag);
    }
  }
}

// The box's place in shared memory, which mustn't go beyond its variable.
bool Machine::ResolveBox(const Inst& inst, std::uint32_t lane, std::uint64_t shared, std::uint32_t bytes,
                         const char* what, Target& box) {
  if (!ResolveShared(inst, lane, shared, bytes, what, box)) return false;
  if (std::find(box.state, box.state + bytes, kGap) == box.state + bytes) return true;
  Report(FindingKind::kOutOfBounds, inst, lane,
         "Invalid __shared__ copy of a box of " + std::to_string(bytes) + " bytes",
         "the range goes beyond its variable", box.address, bytes, Space::kShared);
  return false;
}

void Machine::CountPart(bool loads, const TensorPart& part) {
  if (!options_.count_memory) return;
  Counters& counters = outcome_.counters;
  const std::uint64_t sectors = (part.address + part.bytes - 1) / 32 - part.address / 32 + 1;
  (loads ? counters.global_load_requests : counters.global_store_requests) += 1;
  (loads ? counters.global_load_sectors : counters.global_store_sectors) += sectors;
  (loads ? counters.global_load_bytes : counters.global_store_bytes) += part.bytes;
}

// What is outside of the tensor becomes zero.
void Machine::LoadBox(const Inst& inst, std::uint32_t lane, const TensorMap& map, const std::vector<TensorPart>& parts,
                      std::uint64_t shared, std::uint64_t barrier) {
  const std::uint32_t bytes = map.BoxBytes();
  NoteMoved(bytes);
  BulkEnds ends;
  if (!ResolveBox(inst, lane, shared, bytes, "write", ends.to)) return;
  std::vector<std::uint8_t> data(bytes);
  std::vector<std::uint8_t> state(bytes, static_cast<std::uint8_t>(Writer::kDevice));
  for (const TensorPart& part : parts) {
    Target from;
    if (!ResolveGlobal(inst, lane, part.address, part.bytes, "read", from)) return;
    if (options_.check_races) CheckRace(inst, lane, from, part.bytes, false, false, false);
    CountPart(true, part);
    for (std::uint32_t i = 0; i < part.bytes; ++i) {
      const std::uint64_t to = map.Swizzled(ends.to.address + part.in_box + i) - ends.to.address;
      if (to >= bytes) continue;
      data[to] = from.data[i];
      state[to] = from.state[i];
    }
  }
  if (options_.check_races) CheckRace(inst, lane, ends.to, bytes, true, false, false);
  ends.from.data = data.data();
  ends.from.state = state.data();
  BulkToShared(inst, lane, ends, bytes, barrier);
}

void Machine::StoreBox(const Inst& inst, std::uint32_t lane, const TensorMap& map, const std::vector<TensorPart>& parts,
                       std::uint64_t shared) {
  const std::uint32_t bytes = map.BoxBytes();
  NoteMoved(bytes);
  Target box;
  if (!ResolveBox(inst, lane, shared, bytes, "read", box)) return;
  KnownBytes(inst, lane, box, bytes);
  CheckProxyFence(inst, lane, box, bytes);
  if (options_.check_races) CheckRace(inst, lane, box, bytes, false, false, false);
  for (const TensorPart& part : parts) {
    Target to;
    if (!ResolveGlobal(inst, lane, part.address, part.bytes, "write", to)) return;
    if (to.read_only) {
      Report(FindingKind::kReadOnlyWrite, inst, lane, "Invalid bulk copy to read-only memory", {}, part.address,
             part.bytes, Space::kGlobal);
      return;
    }
    if (options_.check_races) CheckRace(inst, lane, to, part.bytes, true, false, false);
    CountPart(false, part);
    for (std::uint32_t i = 0; i < part.bytes; ++i) {
      const std::uint64_t from = map.Swizzled(box.address + part.in_box + i) - box.address;
      if (from >= bytes) continue;
      to.data[i] = box.data[from];
      to.state[i] = box.state[from] == 0 ? 0 : static_cast<std::uint8_t>(Writer::kDevice);
    }
  }
}

}  // namespace upskill::ptx
