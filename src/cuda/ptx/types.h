// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace upskill::ptx {

// Types of operands. The packed 8-bit and tf32 formats exist only in conversions and matrix instructions.
enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kU8,
  kS8,
  kB16,
  kU16,
  kS16,
  kF16,
  kBf16,
  kB32,
  kU32,
  kS32,
  kF32,
  kF16x2,
  kBf16x2,
  kU16x2,
  kS16x2,
  kTf32,
  kB64,
  kU64,
  kS64,
  kF64,
  kB128,
  kE4m3,
  kE5m2,
  kE4m3x2,
  kE5m2x2,
};

Type TypeFromName(std::string_view name);  // "u32"; kNone if there is no such type
unsigned SizeOf(Type type);                // bytes in memory; of a predicate 1
bool IsSigned(Type type);
bool IsFloat(Type type);  // of any width

// Bytes of one lane of a register of this type: 2, 4, 8 or 16. A predicate has one bit for each lane in 4 bytes.
unsigned SlotSize(Type type);
// Bytes of a register of this type in a frame, for 32 lanes.
unsigned SlotBytes(Type type);

enum class Rounding : std::uint8_t { kNone, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
Rounding RoundingFromName(std::string_view name);  // "rn"

}  // namespace upskill::ptx
