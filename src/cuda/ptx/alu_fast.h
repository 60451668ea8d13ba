// SPDX-License-Identifier: Apache-2.0
// The most frequent instructions, as loops that the compiler turns into vector instructions. Included by one file for
// each kind of processor, which defines UPSKILL_PTX_VARIANT.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_fast_compare.h"
#include "cuda/ptx/alu_lanes.h"

namespace upskill::ptx::UPSKILL_PTX_VARIANT {
namespace {  // NOLINT

template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, std::uint32_t, std::make_unsigned_t<T>>;

struct Add {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
  }
};
struct Subtract {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) - static_cast<Wide<T>>(b));
  }
};
struct Multiply {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
  }
};
struct MultiplyAdd {
  template <typename T>
  T operator()(T a, T b, T c) const {
    return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b) + static_cast<Wide<T>>(c));
  }
};
struct Least {
  template <typename T>
  T operator()(T a, T b) const {
    return b < a ? b : a;
  }
};
struct Greatest {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Negate {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(Wide<T>{0} - static_cast<Wide<T>>(a));
  }
};
struct Absolute {
  template <typename T>
  T operator()(T a) const {
    return a < 0 ? Negate{}(a) : a;
  }
};
struct Same {
  template <typename T>
  T operator()(T a) const {
    return a;
  }
};
// Shifts by the width or more give 0, or the sign.
struct ShiftLeft {
  template <typename T>
  T operator()(T a, std::uint32_t b) const {
    constexpr std::uint32_t kBits = sizeof(T) * 8;
    return b >= kBits ? T{0} : static_cast<T>(static_cast<Wide<T>>(a) << (b & (kBits - 1)));
  }
};
struct ShiftRight {
  template <typename T>
  T operator()(T a, std::uint32_t b) const {
    constexpr std::uint32_t kBits = sizeof(T) * 8;
    return static_cast<T>(a >> (b >= kBits ? kBits - 1 : b)) & (b >= kBits && std::is_unsigned_v<T> ? T{0} : T(~T{0}));
  }
};

inline float Canonical(float value) {
  const std::uint32_t nan_bits = 0x7FFFFFFFU;
  float nan = 0;
  std::memcpy(&nan, &nan_bits, sizeof nan);
  return value != value ? nan : value;
}
inline double Canonical(double value) { return value; }
struct FloatAdd {
  template <typename T>
  T operator()(T a, T b) const {
    return Canonical(a + b);
  }
};
struct FloatSubtract {
  template <typename T>
  T operator()(T a, T b) const {
    return Canonical(a - b);
  }
};
struct FloatMultiply {
  template <typename T>
  T operator()(T a, T b) const {
    return Canonical(a * b);
  }
};
struct FloatDivide {
  template <typename T>
  T operator()(T a, T b) const {
    return Canonical(a / b);
  }
};
struct FusedMultiplyAdd {
  float operator()(float a, float b, float c) const { return Canonical(__builtin_fmaf(a, b, c)); }
  double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};

template <typename D, typename A, typename F>
void Run1(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<D, A>(bases, inst, mask, F{});
}
template <typename D, typename A, typename B, typename F>
void Run2(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes2<D, A, B>(bases, inst, mask, F{});
}
template <typename D, typename A, typename C, typename F>
void Run3(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes3<D, A, A, C>(bases, inst, mask, F{});
}

template <typename D, typename A>
struct WideMultiply {
  D operator()(A a, A b) const {
    return static_cast<D>(static_cast<std::make_unsigned_t<D>>(D{a}) * static_cast<std::make_unsigned_t<D>>(D{b}));
  }
};
template <typename D, typename A>
struct WideMultiplyAdd {
  D operator()(A a, A b, D c) const {
    using U = std::make_unsigned_t<D>;
    return static_cast<D>(static_cast<U>(D{a}) * static_cast<U>(D{b}) + static_cast<U>(c));
  }
};

template <typename F>
AluFunction Integers1(Type type) {
  switch (SizeOf(type)) {
    case 2:
      return IsSigned(type) ? Run1<std::int16_t, std::int16_t, F> : Run1<std::uint16_t, std::uint16_t, F>;
    case 4:
      return IsSigned(type) ? Run1<std::int32_t, std::int32_t, F> : Run1<std::uint32_t, std::uint32_t, F>;
    case 8:
      return IsSigned(type) ? Run1<std::int64_t, std::int64_t, F> : Run1<std::uint64_t, std::uint64_t, F>;
    default:
      return nullptr;
  }
}

template <typename F>
AluFunction Integers2(Type type) {
  switch (SizeOf(type)) {
    case 2:
      return IsSigned(type) ? Run2<std::int16_t, std::int16_t, std::int16_t, F>
                            : Run2<std::uint16_t, std::uint16_t, std::uint16_t, F>;
    case 4:
      return IsSigned(type) ? Run2<std::int32_t, std::int32_t, std::int32_t, F>
                            : Run2<std::uint32_t, std::uint32_t, std::uint32_t, F>;
    case 8:
      return IsSigned(type) ? Run2<std::int64_t, std::int64_t, std::int64_t, F>
                            : Run2<std::uint64_t, std::uint64_t, std::uint64_t, F>;
    default:
      return nullptr;
  }
}

template <typename F>
AluFunction Integers3(Type type) {
  switch (SizeOf(type)) {
    case 2:
      return Run3<std::uint16_t, std::uint16_t, std::uint16_t, F>;
    case 4:
      return Run3<std::uint32_t, std::uint32_t, std::uint32_t, F>;
    case 8:
      return Run3<std::uint64_t, std::uint64_t, std::uint64_t, F>;
    default:
      return nullptr;
  }
}

template <typename F>
AluFunction Shifts(Type type) {
  switch (SizeOf(type)) {
    case 2:
      return IsSigned(type) ? Run2<std::int16_t, std::int16_t, std::uint32_t, F>
                            : Run2<std::uint16_t, std::uint16_t, std::uint32_t, F>;
    case 4:
      return IsSigned(type) ? Run2<std::int32_t, std::int32_t, std::uint32_t, F>
                            : Run2<std::uint32_t, std::uint32_t, std::uint32_t, F>;
    case 8:
      return IsSigned(type) ? Run2<std::int64_t, std::int64_t, std::uint32_t, F>
                            : Run2<std::uint64_t, std::uint64_t, std::uint32_t, F>;
    default:
      return nullptr;
  }
}

inline AluFunction WideAlu(AluOp op, Type type) {
  const bool adds = op == AluOp::kMadWide;
  switch (type) {
    case Type::kU16:
      return adds ? Run3<std::uint32_t, std::uint16_t, std::uint32_t, WideMultiplyAdd<std::uint32_t, std::uint16_t>>
                  : Run2<std::uint32_t, std::uint16_t, std::uint16_t, WideMultiply<std::uint32_t, std::uint16_t>>;
    case Type::kS16:
      return adds ? Run3<std::int32_t, std::int16_t, std::int32_t, WideMultiplyAdd<std::int32_t, std::int16_t>>
                  : Run2<std::int32_t, std::int16_t, std::int16_t, WideMultiply<std::int32_t, std::int16_t>>;
    case Type::kU32:
      return adds ? Run3<std::uint64_t, std::uint32_t, std::uint64_t, WideMultiplyAdd<std::uint64_t, std::uint32_t>>
                  : Run2<std::uint64_t, std::uint32_t, std::uint32_t, WideMultiply<std::uint64_t, std::uint32_t>>;
    case Type::kS32:
      return adds ? Run3<std::int64_t, std::int32_t, std::int64_t, WideMultiplyAdd<std::int64_t, std::int32_t>>
                  : Run2<std::int64_t, std::int32_t, std::int32_t, WideMultiply<std::int64_t, std::int32_t>>;
    default:
      return nullptr;
  }
}

template <typename T>
AluFunction FloatBasics(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
      return Run2<T, T, T, FloatAdd>;
    case AluOp::kSub:
      return Run2<T, T, T, FloatSubtract>;
    case AluOp::kMulLo:
      return Run2<T, T, T, FloatMultiply>;
    case AluOp::kDiv:
      return Run2<T, T, T, FloatDivide>;
    case AluOp::kFma:
      return Run3<T, T, T, FusedMultiplyAdd>;
    default:
      return nullptr;
  }
}

inline AluFunction IntegerBasics(AluOp op, Type type) {
  switch (op) {
    case AluOp::kAdd:
      return Integers2<Add>(type);
    case AluOp::kSub:
      return Integers2<Subtract>(type);
    case AluOp::kMulLo:
      return Integers2<Multiply>(type);
    case AluOp::kMadLo:
      return Integers3<MultiplyAdd>(type);
    case AluOp::kMin:
      return Integers2<Least>(type);
    case AluOp::kMax:
      return Integers2<Greatest>(type);
    case AluOp::kNeg:
      return Integers1<Negate>(type);
    case AluOp::kAbs:
      return Integers1<Absolute>(type);
    case AluOp::kMulWide:
    case AluOp::kMadWide:
      return WideAlu(op, type);
    default:
      return nullptr;
  }
}

inline AluFunction AnyTypeAlu(AluOp op, const Inst& inst) {
  const unsigned size = SlotSize(inst.type);
  const Type bits = size == 8 ? Type::kB64 : size == 4 ? Type::kB32 : Type::kB16;
  switch (op) {
    case AluOp::kMov:
      return Integers1<Same>(bits);
    case AluOp::kAnd:
      return Integers2<And>(bits);
    case AluOp::kOr:
      return Integers2<Or>(bits);
    case AluOp::kXor:
      return Integers2<Xor>(bits);
    case AluOp::kNot:
      return Integers1<Not>(bits);
    case AluOp::kShl:
      return Shifts<ShiftLeft>(bits);
    case AluOp::kShr:
      return Shifts<ShiftRight>(inst.type);
    case AluOp::kSelp:
      return size == 8   ? SelectLanes<std::uint64_t>
             : size == 4 ? SelectLanes<std::uint32_t>
                         : SelectLanes<std::uint16_t>;
    default:
      return nullptr;
  }
}

}  // namespace

AluFunction FastAlu(AluOp op, Compare compare, const Inst& inst) {
  if (inst.type == Type::kPred || SizeOf(inst.type) < 2 || SizeOf(inst.type) > 8) return nullptr;
  if (const AluFunction found = AnyTypeAlu(op, inst)) return found;
  if (op == AluOp::kSetp) return inst.ftz ? nullptr : CompareAny(compare, inst.type);
  const bool plain_rounding = inst.rounding == Rounding::kNone || inst.rounding == Rounding::kRn;
  if (inst.ftz || inst.saturate || !plain_rounding || inst.flags != 0) return nullptr;
  if (inst.type == Type::kF32) return FloatBasics<float>(op);
  if (inst.type == Type::kF64) return FloatBasics<double>(op);
  const bool packed = inst.type == Type::kU16x2 || inst.type == Type::kS16x2;
  return IsFloat(inst.type) || packed ? nullptr : IntegerBasics(op, inst.type);
}

}  // namespace upskill::ptx::UPSKILL_PTX_VARIANT
