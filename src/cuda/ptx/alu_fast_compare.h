// SPDX-License-Identifier: Apache-2.0
// The part of alu_fast.h that compares and selects.
#pragma once

#include <cstdint>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"

namespace upskill::ptx::UPSKILL_PTX_VARIANT {
namespace {  // NOLINT

template <typename T>
void SelectLanes(char* const* bases, const Inst& inst, std::uint32_t mask) {
  T* d = Lanes<T>(bases, inst.op[0]);
  const T* a = Lanes<T>(bases, inst.op[1]);
  const T* b = Lanes<T>(bases, inst.op[2]);
  const std::uint32_t chosen = *Lanes<std::uint32_t>(bases, inst.op[3]);
#pragma GCC ivdep
  for (int i = 0; i < 32; ++i) {
    const T value = Active(chosen, i) ? a[i] : b[i];
    d[i] = Active(mask, i) ? value : d[i];
  }
}

template <typename T, typename F>
void CompareLanes(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const T* a = Lanes<T>(bases, inst.op[2]);
  const T* b = Lanes<T>(bases, inst.op[3]);
  std::uint32_t result = 0;
  for (int i = 0; i < 32; ++i) result |= F{}(a[i], b[i]) ? (1U << static_cast<unsigned>(i)) : 0U;
  std::uint32_t inverse = ~result;
  if (inst.flags != 0) {
    const std::uint32_t other = *Lanes<std::uint32_t>(bases, inst.op[4]);
    if (inst.flags == kCombineAnd) {
      result &= other;
      inverse &= other;
    } else if (inst.flags == kCombineOr) {
      result |= other;
      inverse |= other;
    } else {
      result ^= other;
      inverse ^= other;
    }
  }
  std::uint32_t& p = *Lanes<std::uint32_t>(bases, inst.op[0]);
  p = (p & ~mask) | (result & mask);
  if (inst.op[1] == kNoSlot) return;
  std::uint32_t& q = *Lanes<std::uint32_t>(bases, inst.op[1]);
  q = (q & ~mask) | (inverse & mask);
}

struct IsEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a == b;
  }
};
struct IsUnequal {  // ordered: false for NaN
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b || a > b;
  }
};
struct IsLess {
  template <typename T>
  bool operator()(T a, T b) const {
    return a < b;
  }
};
struct IsLessOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct IsGreater {
  template <typename T>
  bool operator()(T a, T b) const {
    return a > b;
  }
};
struct IsGreaterOrEqual {
  template <typename T>
  bool operator()(T a, T b) const {
    return a >= b;
  }
};
template <typename Opposite>
struct Unless {
  template <typename T>
  bool operator()(T a, T b) const {
    return !Opposite{}(a, b);
  }
};
struct AreNumbers {
  template <typename T>
  bool operator()(T a, T b) const {
    // NOLINTNEXTLINE(misc-redundant-expression): false for NaN
    return a == a && b == b;
  }
};

template <typename T>
AluFunction CompareType(Compare compare) {
  switch (compare) {
    case Compare::kEq:
      return CompareLanes<T, IsEqual>;
    case Compare::kNe:
      return CompareLanes<T, IsUnequal>;
    case Compare::kLt:
      return CompareLanes<T, IsLess>;
    case Compare::kLe:
      return CompareLanes<T, IsLessOrEqual>;
    case Compare::kGt:
      return CompareLanes<T, IsGreater>;
    case Compare::kGe:
      return CompareLanes<T, IsGreaterOrEqual>;
    case Compare::kEqu:
      return CompareLanes<T, Unless<IsUnequal>>;
    case Compare::kNeu:
      return CompareLanes<T, Unless<IsEqual>>;
    case Compare::kLtu:
      return CompareLanes<T, Unless<IsGreaterOrEqual>>;
    case Compare::kLeu:
      return CompareLanes<T, Unless<IsGreater>>;
    case Compare::kGtu:
      return CompareLanes<T, Unless<IsLessOrEqual>>;
    case Compare::kGeu:
      return CompareLanes<T, Unless<IsLess>>;
    case Compare::kNum:
      return CompareLanes<T, AreNumbers>;
    case Compare::kNan:
      return CompareLanes<T, Unless<AreNumbers>>;
  }
  return nullptr;
}

inline AluFunction CompareAny(Compare compare, Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return CompareType<std::uint16_t>(compare);
    case Type::kS16:
      return CompareType<std::int16_t>(compare);
    case Type::kB32:
    case Type::kU32:
      return CompareType<std::uint32_t>(compare);
    case Type::kS32:
      return CompareType<std::int32_t>(compare);
    case Type::kB64:
    case Type::kU64:
      return CompareType<std::uint64_t>(compare);
    case Type::kS64:
      return CompareType<std::int64_t>(compare);
    case Type::kF32:
      return CompareType<float>(compare);
    case Type::kF64:
      return CompareType<double>(compare);
    default:
      return nullptr;
  }
}

}  // namespace
}  // namespace upskill::ptx::UPSKILL_PTX_VARIANT
