// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/operand.h"

#include <map>

namespace upskill::ptx {
namespace {

const std::map<std::string_view, SpecialRegister>& SpecialNames() {
  using S = SpecialRegister;
  static const std::map<std::string_view, SpecialRegister> names = {
      {"%tid.x", S::kTidX},
      {"%tid.y", S::kTidY},
      {"%tid.z", S::kTidZ},
      {"%ntid.x", S::kNtidX},
      {"%ntid.y", S::kNtidY},
      {"%ntid.z", S::kNtidZ},
      {"%ctaid.x", S::kCtaidX},
      {"%ctaid.y", S::kCtaidY},
      {"%ctaid.z", S::kCtaidZ},
      {"%nctaid.x", S::kNctaidX},
      {"%nctaid.y", S::kNctaidY},
      {"%nctaid.z", S::kNctaidZ},
      {"%laneid", S::kLaneId},
      {"%warpid", S::kWarpId},
      {"%nwarpid", S::kNwarpId},
      {"%smid", S::kSmId},
      {"%nsmid", S::kNsmId},
      {"%gridid", S::kGridId},
      {"%lanemask_eq", S::kLanemaskEq},
      {"%lanemask_le", S::kLanemaskLe},
      {"%lanemask_lt", S::kLanemaskLt},
      {"%lanemask_ge", S::kLanemaskGe},
      {"%lanemask_gt", S::kLanemaskGt},
      {"%clock", S::kClock},
      {"%clock_hi", S::kClockHi},
      {"%clock64", S::kClock64},
      {"%globaltimer", S::kGlobaltimer},
      {"%globaltimer_lo", S::kGlobaltimerLo},
      {"%globaltimer_hi", S::kGlobaltimerHi},
      {"%clusterid.x", S::kClusteridX},
      {"%clusterid.y", S::kClusteridY},
      {"%clusterid.z", S::kClusteridZ},
      {"%nclusterid.x", S::kNclusteridX},
      {"%nclusterid.y", S::kNclusteridY},
      {"%nclusterid.z", S::kNclusteridZ},
      {"%cluster_ctaid.x", S::kClusterCtaidX},
      {"%cluster_ctaid.y", S::kClusterCtaidY},
      {"%cluster_ctaid.z", S::kClusterCtaidZ},
      {"%cluster_nctaid.x", S::kClusterNctaidX},
      {"%cluster_nctaid.y", S::kClusterNctaidY},
      {"%cluster_nctaid.z", S::kClusterNctaidZ},
      {"%cluster_ctarank", S::kClusterCtarank},
      {"%cluster_nctarank", S::kClusterNctarank},
      {"%is_explicit_cluster", S::kIsExplicitCluster},
      {"%dynamic_smem_size", S::kDynamicSmemSize},
      {"%total_smem_size", S::kTotalSmemSize},
      {"%reserved_smem_offset_begin", S::kReservedSmemStart},
      {"%reserved_smem_offset_0", S::kReservedSmemStart},
      {"%reserved_smem_offset_1", S::kReservedSmemStart},
      {"%reserved_smem_offset_end", S::kReservedSmemEnd},
      {"%reserved_smem_offset_cap", S::kReservedSmemEnd},
      {"%envreg0", S::kEnvreg0},
      {"%envreg1", S::kEnvreg1},
      {"%envreg2", S::kEnvreg2},
  };
  return names;
}

}  // namespace

SpecialRegister SpecialRegisterFromName(std::string_view name) {
  const auto found = SpecialNames().find(name);
  if (found != SpecialNames().end()) return found->second;
  return name.starts_with("%envreg") ? SpecialRegister::kEnvregOther : SpecialRegister::kNone;
}

Type SpecialRegisterType(SpecialRegister special) {
  switch (special) {
    case SpecialRegister::kClock64:
    case SpecialRegister::kGlobaltimer:
    case SpecialRegister::kGridId:
      return Type::kU64;
    case SpecialRegister::kIsExplicitCluster:
      return Type::kPred;
    default:
      return Type::kU32;
  }
}

}  // namespace upskill::ptx
