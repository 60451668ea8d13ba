// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/types.h"

#include <algorithm>
#include <array>
#include <utility>

namespace upskill::ptx {
namespace {

struct TypeName {
  std::string_view name;
  Type type;
};

constexpr std::array<TypeName, 27> kTypeNames = {{
    {"pred", Type::kPred},   {"b8", Type::kB8},         {"u8", Type::kU8},         {"s8", Type::kS8},
    {"b16", Type::kB16},     {"u16", Type::kU16},       {"s16", Type::kS16},       {"f16", Type::kF16},
    {"bf16", Type::kBf16},   {"b32", Type::kB32},       {"u32", Type::kU32},       {"s32", Type::kS32},
    {"f32", Type::kF32},     {"f16x2", Type::kF16x2},   {"bf16x2", Type::kBf16x2}, {"u16x2", Type::kU16x2},
    {"s16x2", Type::kS16x2}, {"tf32", Type::kTf32},     {"b64", Type::kB64},       {"u64", Type::kU64},
    {"s64", Type::kS64},     {"f64", Type::kF64},       {"b128", Type::kB128},     {"e4m3", Type::kE4m3},
    {"e5m2", Type::kE5m2},   {"e4m3x2", Type::kE4m3x2}, {"e5m2x2", Type::kE5m2x2},
}};

constexpr std::array<std::pair<std::string_view, Rounding>, 9> kRoundings = {{
    {"rn", Rounding::kRn},
    {"rz", Rounding::kRz},
    {"rm", Rounding::kRm},
    {"rp", Rounding::kRp},
    {"rna", Rounding::kRna},
    {"rni", Rounding::kRni},
    {"rzi", Rounding::kRzi},
    {"rmi", Rounding::kRmi},
    {"rpi", Rounding::kRpi},
}};

}  // namespace

Type TypeFromName(std::string_view name) {
  const auto* const found =
      std::find_if(kTypeNames.begin(), kTypeNames.end(), [&](const TypeName& entry) { return entry.name == name; });
  return found == kTypeNames.end() ? Type::kNone : found->type;
}

unsigned SizeOf(Type type) {
  switch (type) {
    case Type::kNone:
      return 0;
    case Type::kPred:
    case Type::kB8:
    case Type::kU8:
    case Type::kS8:
    case Type::kE4m3:
    case Type::kE5m2:
      return 1;
    case Type::kB16:
    case Type::kU16:
    case Type::kS16:
    case Type::kF16:
    case Type::kBf16:
    case Type::kE4m3x2:
    case Type::kE5m2x2:
      return 2;
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return 8;
    case Type::kB128:
      return 16;
    default:
      return 4;
  }
}

bool IsSigned(Type type) {
  return type == Type::kS8 || type == Type::kS16 || type == Type::kS32 || type == Type::kS64 || type == Type::kS16x2;
}

bool IsFloat(Type type) {
  switch (type) {
    case Type::kF16:
    case Type::kBf16:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBf16x2:
    case Type::kTf32:
    case Type::kF64:
    case Type::kE4m3:
    case Type::kE5m2:
    case Type::kE4m3x2:
    case Type::kE5m2x2:
      return true;
    default:
      return false;
  }
}

unsigned SlotSize(Type type) {
  if (type == Type::kPred) return 4;
  return std::max(2U, SizeOf(type));
}

unsigned SlotBytes(Type type) { return type == Type::kPred ? 64 : 32 * SlotSize(type); }

Rounding RoundingFromName(std::string_view name) {
  const auto* const found =
      std::find_if(kRoundings.begin(), kRoundings.end(), [&](const auto& entry) { return entry.first == name; });
  return found == kRoundings.end() ? Rounding::kNone : found->second;
}

}  // namespace upskill::ptx
