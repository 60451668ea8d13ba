// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "cuda/ptx/machine.h"

namespace upskill::ptx {

std::uint64_t Machine::IndexValue(SpecialRegister special, std::uint32_t lane) const {
  const Dim3 thread = ThreadDim(warp_->index * 32 + lane);
  switch (special) {
    case SpecialRegister::kTidX:
      return thread.x;
    case SpecialRegister::kTidY:
      return thread.y;
    case SpecialRegister::kTidZ:
      return thread.z;
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

std::uint64_t Machine::SpecialValue(SpecialRegister special, std::uint32_t lane) const {
  switch (special) {
    case SpecialRegister::kLaneId:
      return lane;
    case SpecialRegister::kWarpId:
      return warp_->index;
    case SpecialRegister::kNwarpId:
      return block_->warps.size();
    case SpecialRegister::kNsmId:
      return 132;
    case SpecialRegister::kLanemaskEq:
      return std::uint64_t{1} << lane;
    case SpecialRegister::kLanemaskLe:
      return (std::uint64_t{2} << lane) - 1;
    case SpecialRegister::kLanemaskLt:
      return (std::uint64_t{1} << lane) - 1;
    case SpecialRegister::kLanemaskGe:
      return ~((std::uint64_t{1} << lane) - 1) & 0xFFFFFFFFU;
    case SpecialRegister::kLanemaskGt:
      return ~((std::uint64_t{2} << lane) - 1) & 0xFFFFFFFFU;
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
      return IndexValue(special, lane);
  }
}

void Machine::Special(const Inst& inst, std::uint32_t mask) {
  const auto special = static_cast<SpecialRegister>(inst.sub);
  if (inst.type == Type::kPred) {
    std::uint32_t& p = *Register<std::uint32_t>(inst.op[0]);
    p = special == SpecialRegister::kIsExplicitCluster && config_.cluster.Count() > 1 ? p | mask : p & ~mask;
    return;
  }
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    if (((mask >> lane) & 1U) == 0) continue;
    const std::uint64_t value = SpecialValue(special, lane);
    std::memcpy(Register<char>(inst.op[0]) + std::size_t{lane} * inst.slot_size, &value,
                std::min<std::size_t>(inst.slot_size, 8));
  }
}

}  // namespace upskill::ptx
