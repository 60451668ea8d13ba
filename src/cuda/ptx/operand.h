// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/ptx/types.h"

namespace upskill::ptx {

enum class SpecialRegister : std::uint8_t {
  kNone,
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneId,
  kWarpId,
  kNwarpId,
  kSmId,
  kNsmId,
  kGridId,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kClock,
  kClockHi,
  kClock64,
  kGlobaltimer,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kClusteridX,
  kClusteridY,
  kClusteridZ,
  kNclusteridX,
  kNclusteridY,
  kNclusteridZ,
  kClusterCtaidX,
  kClusterCtaidY,
  kClusterCtaidZ,
  kClusterNctaidX,
  kClusterNctaidY,
  kClusterNctaidZ,
  kClusterCtarank,
  kClusterNctarank,
  kIsExplicitCluster,
  kDynamicSmemSize,
  kTotalSmemSize,
  kReservedSmemStart,  // of the shared memory that the system keeps for itself
  kReservedSmemEnd,
  kEnvreg0,
  kEnvreg1,
  kEnvreg2,
  kEnvregOther,
};

SpecialRegister SpecialRegisterFromName(std::string_view name);  // "%tid.x"
Type SpecialRegisterType(SpecialRegister special);               // kU32 or kU64
inline bool IsClock(SpecialRegister special) {
  return special >= SpecialRegister::kClock && special <= SpecialRegister::kGlobaltimerHi;
}

// What a name stands for in its scope.
struct Symbol {
  enum class Kind : std::uint8_t {
    kNone,
    kRegister,
    kRegisterRange,  // %r<N>
    kShared,
    kDynamicShared,
    kLocal,   // a .local variable, or a .param one of a call or function: both are in the local frame
    kGlobal,  // .global and .const
    kKernelParameter,
    kFunction,
    kPrototype,
    kTargets,
  };
  Kind kind = Kind::kNone;
  Type type = Type::kNone;
  std::uint32_t index = 0;  // slot of a register; otherwise an index or offset
  std::uint32_t count = 0;  // of a register range
  std::uint64_t bytes = 0;  // of a variable
};

struct Operand {
  enum class Kind : std::uint8_t {
    kNone,
    kRegister,
    kInteger,
    kFloat,   // `bits` are those of a double
    kSingle,  // 0f…: `bits` are those of a float
    kSpecial,
    kSymbol,   // a variable's address, with `offset` added
    kAddress,  // [elements[0] + offset], further elements are coordinates
    kVector,
    kList,  // in parentheses
    kName,  // a label or something that isn't declared yet
    kSink,  // _
    kPair,  // a|b
  };
  Kind kind = Kind::kNone;
  Type type = Type::kNone;  // of a register
  bool negated = false;
  std::uint32_t slot = 0;
  SpecialRegister special = SpecialRegister::kNone;
  std::uint64_t bits = 0;
  std::int64_t offset = 0;
  Symbol symbol;
  std::string_view name;
  std::vector<Operand> elements;
};

// One instruction as it is written. The views point into the source.
struct Statement {
  std::string_view opcode;
  std::vector<std::string_view> parts;  // the opcode, split at its dots
  std::vector<Operand> operands;
  std::uint32_t guard = 0xFFFFFFFFU;
  bool guard_negated = false;
  std::uint32_t line = 0;

  bool Has(std::string_view part) const {
    for (const std::string_view candidate : parts) {
      if (candidate == part) return true;
    }
    return false;
  }
  std::string_view Part(std::size_t index) const { return index < parts.size() ? parts[index] : std::string_view{}; }
};

}  // namespace upskill::ptx
