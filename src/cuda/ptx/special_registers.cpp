// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {

namespace {

template <typename T>
void FillLanes(char* to, std::uint32_t mask, const std::uint8_t* value) {
  T one = 0;
  std::memcpy(&one, value, sizeof one);
  T* const lanes = reinterpret_cast<T*>(to);
  for (std::uint32_t lane = 0; lane < 32; ++lane) lanes[lane] = ((mask >> lane) & 1U) != 0 ? one : lanes[lane];
}

// Registers that differ from lane to lane, of 32 bits each.
bool IsOfLane(SpecialRegister special) {
  return (special >= SpecialRegister::kTidX && special <= SpecialRegister::kTidZ) ||
         special == SpecialRegister::kLaneId ||
         (special >= SpecialRegister::kLanemaskEq && special <= SpecialRegister::kLanemaskGt);
}

std::uint32_t ValueOfLane(SpecialRegister special, const Dim3& thread, std::uint32_t lane) {
  switch (special) {
    case SpecialRegister::kTidX:
      return thread.x;
    case SpecialRegister::kTidY:
      return thread.y;
    case SpecialRegister::kTidZ:
      return thread.z;
    case SpecialRegister::kLaneId:
      return lane;
    case SpecialRegister::kLanemaskEq:
      return 1U << lane;
    case SpecialRegister::kLanemaskLe:
      return (2U << lane) - 1;
    case SpecialRegister::kLanemaskLt:
      return (1U << lane) - 1;
    case SpecialRegister::kLanemaskGe:
      return ~((1U << lane) - 1);
    default:
      return ~((2U << lane) - 1);
  }
}

}  // namespace

std::uint64_t Machine::IndexValue(SpecialRegister special) const {
  switch (special) {
    case SpecialRegister::kNtidX:
      return config_.block.x;
    case SpecialRegister::kNtidY:
      return config_.block.y;
    case SpecialRegister::kNtidZ:
      return config_.block.z;
    case SpecialRegister::kCtaidX:
      return block_->id.x;
    case SpecialRegister::kCtaidY:
      return block_->id.y;
    case SpecialRegister::kCtaidZ:
      return block_->id.z;
    case SpecialRegister::kNctaidX:
      return config_.grid.x;
    case SpecialRegister::kNctaidY:
      return config_.grid.y;
    case SpecialRegister::kNctaidZ:
      return config_.grid.z;
    default:
      return ClusterValue(special);
  }
}

std::uint64_t Machine::ClusterValue(SpecialRegister special) const {
  const Dim3& cluster = config_.cluster;
  switch (special) {
    case SpecialRegister::kClusteridX:
      return block_->id.x / cluster.x;
    case SpecialRegister::kClusteridY:
      return block_->id.y / cluster.y;
    case SpecialRegister::kClusteridZ:
      return block_->id.z / cluster.z;
    case SpecialRegister::kNclusteridX:
      return config_.grid.x / cluster.x;
    case SpecialRegister::kNclusteridY:
      return config_.grid.y / cluster.y;
    case SpecialRegister::kNclusteridZ:
      return config_.grid.z / cluster.z;
    case SpecialRegister::kClusterCtaidX:
      return block_->id.x % cluster.x;
    case SpecialRegister::kClusterCtaidY:
      return block_->id.y % cluster.y;
    case SpecialRegister::kClusterCtaidZ:
      return block_->id.z % cluster.z;
    case SpecialRegister::kClusterNctaidX:
      return cluster.x;
    case SpecialRegister::kClusterNctaidY:
      return cluster.y;
    case SpecialRegister::kClusterNctaidZ:
      return cluster.z;
    case SpecialRegister::kClusterCtarank:
      return block_->rank;
    case SpecialRegister::kClusterNctarank:
      return cluster.Count();
    default:
      return 0;
  }
}

std::uint64_t Machine::SpecialValue(SpecialRegister special) const {
  switch (special) {
    case SpecialRegister::kWarpId:
      return warp_->index;
    case SpecialRegister::kNwarpId:
      return block_->warps.size();
    case SpecialRegister::kNsmId:
      return 132;
    // Time is the number of instructions, so that every run is the same.
    case SpecialRegister::kClock:
    case SpecialRegister::kClock64:
    case SpecialRegister::kGlobaltimer:
    case SpecialRegister::kGlobaltimerLo:
      return outcome_.counters.warp_instructions;
    case SpecialRegister::kClockHi:
    case SpecialRegister::kGlobaltimerHi:
      return outcome_.counters.warp_instructions >> 32U;
    case SpecialRegister::kDynamicSmemSize:
      return config_.dynamic_shared_bytes;
    case SpecialRegister::kTotalSmemSize:
      return shared_end_ - kSharedStart;
    case SpecialRegister::kReservedSmemEnd:
      return kSharedStart;
    case SpecialRegister::kEnvreg1:
      return workspace_address_ >> 32U;
    case SpecialRegister::kEnvreg2:
      return workspace_address_ & 0xFFFFFFFFU;
    default:
      return IndexValue(special);
  }
}

void Machine::Special(const Inst& inst, std::uint32_t mask) {
  const auto special = static_cast<SpecialRegister>(inst.sub);
  if (inst.type == Type::kPred) {
    std::uint32_t& p = *Register<std::uint32_t>(inst.op[0]);
    p = special == SpecialRegister::kIsExplicitCluster && config_.cluster.Count() > 1 ? p | mask : p & ~mask;
    return;
  }
  std::array<std::uint8_t, 16> bytes{};
  if (!IsOfLane(special)) {
    const std::uint64_t value = SpecialValue(special);
    outcome_.reads_clock = outcome_.reads_clock || IsClock(special);
    std::memcpy(bytes.data(), &value, sizeof value);
    Broadcast(inst, mask, bytes);
    return;
  }
  Dim3 thread = ThreadDim(warp_->index * 32);
  char* to = Register<char>(inst.op[0]);
  for (std::uint32_t lane = 0; lane < 32; ++lane, to += inst.slot_size) {
    const std::uint64_t value = ValueOfLane(special, thread, lane);
    if (((mask >> lane) & 1U) != 0) std::memcpy(to, &value, std::min<std::size_t>(inst.slot_size, 8));
    if (++thread.x < config_.block.x) continue;
    thread.x = 0;
    if (++thread.y < config_.block.y) continue;
    thread.y = 0;
    ++thread.z;
  }
}

// One value for all lanes.
void Machine::Broadcast(const Inst& inst, std::uint32_t mask, const std::array<std::uint8_t, 16>& value) {
  char* const to = Register<char>(inst.op[0]);
  if (inst.slot_size == 4) {
    FillLanes<std::uint32_t>(to, mask, value.data());
  } else if (inst.slot_size == 8) {
    FillLanes<std::uint64_t>(to, mask, value.data());
  } else {
    for (std::size_t lane = 0; lane < 32; ++lane) {
      if (((mask >> lane) & 1U) != 0) std::memcpy(to + lane * inst.slot_size, value.data(), inst.slot_size);
    }
  }
}

}  // namespace upskill::ptx
