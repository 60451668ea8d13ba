// SPDX-License-Identifier: Apache-2.0
// Comparisons that aren't in alu_fast.h: of halves and with .ftz; set, slct and testp.
#include <cmath>
#include <cstring>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

template <typename T>
bool Holds(Compare compare, T a, T b) {
  // NOLINTNEXTLINE(misc-redundant-expression): false for NaN
  const bool ordered = a == a && b == b;
  switch (compare) {
    case Compare::kEq:
      return ordered && a == b;
    case Compare::kNe:
      return ordered && a != b;
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kGe:
      return a >= b;
    case Compare::kEqu:
      return !ordered || a == b;
    case Compare::kNeu:
      return !ordered || a != b;
    case Compare::kLtu:
      return !ordered || a < b;
    case Compare::kLeu:
      return !ordered || a <= b;
    case Compare::kGtu:
      return !ordered || a > b;
    case Compare::kGeu:
      return !ordered || a >= b;
    case Compare::kNum:
      return ordered;
    case Compare::kNan:
      return !ordered;
  }
  return false;
}

template <typename T>
T Value(char* const* bases, std::uint32_t operand, int index) {
  return Lanes<T>(bases, operand)[index];
}

// Whether the comparison holds for element `index`: a lane, or of pairs, one of its two halves.
bool HoldsAt(char* const* bases, const Inst& inst, Type type, std::uint32_t a, std::uint32_t b, int index) {
  const auto compare = static_cast<Compare>(inst.sub);
  switch (type) {
    case Type::kF16:
    case Type::kF16x2:
      return Holds(compare, HalfToFloat(Value<std::uint16_t>(bases, a, index)),
                   HalfToFloat(Value<std::uint16_t>(bases, b, index)));
    case Type::kBf16:
    case Type::kBf16x2:
      return Holds(compare, BfloatToFloat(Value<std::uint16_t>(bases, a, index)),
                   BfloatToFloat(Value<std::uint16_t>(bases, b, index)));
    case Type::kF32: {
      const float x = Value<float>(bases, a, index);
      const float y = Value<float>(bases, b, index);
      return inst.ftz ? Holds(compare, FlushSubnormal(x), FlushSubnormal(y)) : Holds(compare, x, y);
    }
    case Type::kF64:
      return Holds(compare, Value<double>(bases, a, index), Value<double>(bases, b, index));
    default:
      break;
  }
  if (SizeOf(type) == 8) {
    return IsSigned(type)
               ? Holds(compare, Value<std::int64_t>(bases, a, index), Value<std::int64_t>(bases, b, index))
               : Holds(compare, Value<std::uint64_t>(bases, a, index), Value<std::uint64_t>(bases, b, index));
  }
  if (SizeOf(type) == 4) {
    return IsSigned(type)
               ? Holds(compare, Value<std::int32_t>(bases, a, index), Value<std::int32_t>(bases, b, index))
               : Holds(compare, Value<std::uint32_t>(bases, a, index), Value<std::uint32_t>(bases, b, index));
  }
  return IsSigned(type) ? Holds(compare, Value<std::int16_t>(bases, a, index), Value<std::int16_t>(bases, b, index))
                        : Holds(compare, Value<std::uint16_t>(bases, a, index), Value<std::uint16_t>(bases, b, index));
}

bool Combine(std::uint32_t how, bool result, bool other) {
  if (how == kCombineAnd) return result && other;
  if (how == kCombineOr) return result || other;
  return how == kCombineXor ? result != other : result;
}

void SetLane(std::uint32_t& predicate, int lane, bool value) {
  const std::uint32_t bit = 1U << static_cast<unsigned>(lane);
  predicate = value ? predicate | bit : predicate & ~bit;
}

// setp.f16x2 compares both halves: p is of the lower, q of the upper.
void SetPredicate(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const bool pair = inst.type == Type::kF16x2 || inst.type == Type::kBf16x2;
  std::uint32_t p = *Lanes<std::uint32_t>(bases, inst.op[0]);
  std::uint32_t q = inst.op[1] == kNoSlot ? 0 : *Lanes<std::uint32_t>(bases, inst.op[1]);
  const std::uint32_t other = inst.flags == 0 ? 0 : *Lanes<std::uint32_t>(bases, inst.op[4]);
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    const bool third = Active(other, i);
    const bool first = HoldsAt(bases, inst, inst.type, inst.op[2], inst.op[3], pair ? 2 * i : i);
    const bool second = pair ? HoldsAt(bases, inst, inst.type, inst.op[2], inst.op[3], 2 * i + 1) : !first;
    SetLane(p, i, Combine(inst.flags, first, third));
    SetLane(q, i, Combine(inst.flags, second, third));
  }
  *Lanes<std::uint32_t>(bases, inst.op[0]) = p;
  if (inst.op[1] != kNoSlot) *Lanes<std::uint32_t>(bases, inst.op[1]) = q;
}

// set.CmpOp.dtype.stype d, a, b: all ones or 1.0.
void SetValue(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const std::uint32_t other = inst.flags == 0 ? 0 : *Lanes<std::uint32_t>(bases, inst.op[3]);
  const bool pair = inst.source_type == Type::kF16x2 || inst.source_type == Type::kBf16x2;
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    const auto result = [&](int index) {
      return Combine(inst.flags, HoldsAt(bases, inst, inst.source_type, inst.op[1], inst.op[2], index),
                     Active(other, i));
    };
    if (pair) {
      const std::uint16_t one = inst.type == Type::kF16x2 ? 0x3C00 : inst.type == Type::kBf16x2 ? 0x3F80 : 0xFFFF;
      for (int k = 2 * i; k < 2 * i + 2; ++k) Lanes<std::uint16_t>(bases, inst.op[0])[k] = result(k) ? one : 0;
    } else if (inst.slot_size == 2) {
      const std::uint16_t one = inst.type == Type::kF16 ? 0x3C00 : inst.type == Type::kBf16 ? 0x3F80 : 0xFFFF;
      Lanes<std::uint16_t>(bases, inst.op[0])[i] = result(i) ? one : 0;
    } else {
      const std::uint32_t one = inst.type == Type::kF32 ? 0x3F800000U : 0xFFFFFFFFU;
      Lanes<std::uint32_t>(bases, inst.op[0])[i] = result(i) ? one : 0;
    }
  }
}

// slct d, a, b, c: a if c >= 0, else b (also if c is NaN).
template <typename T>
void SelectBySign(char* const* bases, const Inst& inst, std::uint32_t mask) {
  if (inst.source_type == Type::kF32) {
    ForLanes3<T, T, T, float>(bases, inst, mask,
                              [&](T a, T b, float c) { return (inst.ftz ? FlushSubnormal(c) : c) >= 0 ? a : b; });
    return;
  }
  ForLanes3<T, T, T, std::int32_t>(bases, inst, mask, [](T a, T b, std::int32_t c) { return c >= 0 ? a : b; });
}

enum Test : std::uint8_t { kFinite, kInfinite, kNumber, kNotANumber, kNormal, kSubnormal };

void TestProperty(char* const* bases, const Inst& inst, std::uint32_t mask) {
  std::uint32_t p = *Lanes<std::uint32_t>(bases, inst.op[0]);
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    const int kind = inst.type == Type::kF64 ? std::fpclassify(Value<double>(bases, inst.op[1], i))
                                             : std::fpclassify(Value<float>(bases, inst.op[1], i));
    bool result = false;
    switch (inst.sub) {
      case kFinite:
        result = kind != FP_INFINITE && kind != FP_NAN;
        break;
      case kInfinite:
        result = kind == FP_INFINITE;
        break;
      case kNumber:
        result = kind != FP_NAN;
        break;
      case kNotANumber:
        result = kind == FP_NAN;
        break;
      case kNormal:
        result = kind == FP_NORMAL;
        break;
      default:
        result = kind == FP_SUBNORMAL;
    }
    SetLane(p, i, result);
  }
  *Lanes<std::uint32_t>(bases, inst.op[0]) = p;
}

}  // namespace

AluFunction CompareAlu(AluOp op, const Inst& inst) {
  switch (op) {
    case AluOp::kSetp:
      return inst.type == Type::kPred ? nullptr : SetPredicate;
    case AluOp::kSet:
      return SetValue;
    case AluOp::kTestp:
      return TestProperty;
    case AluOp::kSlct:
      if (SizeOf(inst.type) == 8) return SelectBySign<std::uint64_t>;
      return SizeOf(inst.type) == 4 ? SelectBySign<std::uint32_t> : SelectBySign<std::uint16_t>;
    default:
      return nullptr;
  }
}

}  // namespace upskill::ptx
