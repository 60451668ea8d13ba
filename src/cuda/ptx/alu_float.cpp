// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions of all roundings, with .ftz and .sat, and the approximations. Compiled with
// -frounding-math.
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

template <typename T>
T Input(T value, const Inst& inst) {
  if constexpr (sizeof(T) == 4) return inst.ftz ? FlushSubnormal(value) : value;
  return value;
}

template <typename T>
T Output(T value, const Inst& inst) {
  if (inst.saturate) value = value >= T{1} ? T{1} : (value > T{0} ? value : T{0});  // NaN becomes 0
  if constexpr (sizeof(T) == 4) {
    if (std::isnan(value)) return std::bit_cast<float>(0x7FFFFFFFU);
    if (inst.ftz) return FlushSubnormal(value);
  }
  return value;
}

template <typename T, typename F>
void Each1(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const RoundingScope scope(inst.rounding);
  ForLanes1<T, T>(bases, inst, mask, [&](T a) { return Output(F{}(Input(a, inst)), inst); });
}
template <typename T, typename F>
void Each2(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const RoundingScope scope(inst.rounding);
  ForLanes2<T, T, T>(bases, inst, mask, [&](T a, T b) { return Output(F{}(Input(a, inst), Input(b, inst)), inst); });
}
template <typename T>
void Fused(char* const* bases, const Inst& inst, std::uint32_t mask) {
  const RoundingScope scope(inst.rounding);
  ForLanes3<T, T, T, T>(bases, inst, mask, [&](T a, T b, T c) {
    return Output(std::fma(Input(a, inst), Input(b, inst), Input(c, inst)), inst);
  });
}

struct Plus {
  template <typename T>
  T operator()(T a, T b) const {
    return a + b;
  }
};
struct Minus {
  template <typename T>
  T operator()(T a, T b) const {
    return a - b;
  }
};
struct Times {
  template <typename T>
  T operator()(T a, T b) const {
    return a * b;
  }
};
struct Over {
  template <typename T>
  T operator()(T a, T b) const {
    return a / b;
  }
};
struct Reciprocal {
  template <typename T>
  T operator()(T a) const {
    return T{1} / a;
  }
};
struct SquareRoot {
  template <typename T>
  T operator()(T a) const {
    return std::sqrt(a);
  }
};
// The approximations of the hardware are computed in double and rounded once.
struct ReciprocalRoot {
  template <typename T>
  T operator()(T a) const {
    return static_cast<T>(1.0 / std::sqrt(static_cast<double>(a)));
  }
};
struct Exponential2 {
  float operator()(float a) const { return static_cast<float>(std::exp2(static_cast<double>(a))); }
};
struct Logarithm2 {
  float operator()(float a) const { return static_cast<float>(std::log2(static_cast<double>(a))); }
};
struct Sine {
  float operator()(float a) const { return static_cast<float>(std::sin(static_cast<double>(a))); }
};
struct Cosine {
  float operator()(float a) const { return static_cast<float>(std::cos(static_cast<double>(a))); }
};
struct HyperbolicTangent {
  float operator()(float a) const { return static_cast<float>(std::tanh(static_cast<double>(a))); }
};

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 give the upper 32 bits only.
template <typename F>
void UpperHalf(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<double, double>(bases, inst, mask, [&](double a) {
    if (std::fabs(a) < std::numeric_limits<double>::min()) a = std::copysign(0.0, a);
    const double result = F{}(a);
    if (std::isnan(result)) return result;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(result) & 0xFFFFFFFF00000000ULL);
  });
}

template <typename T>
T LeastOrGreatest(T a, T b, const Inst& inst, bool least) {
  const bool negative = std::signbit(a) != std::signbit(b);
  if ((inst.flags & kFlagXorsign) != 0) {
    a = std::fabs(a);
    b = std::fabs(b);
  }
  T result{};
  if (std::isnan(a) || std::isnan(b)) {
    const bool keep_nan = (inst.flags & kFlagNan) != 0 || (std::isnan(a) && std::isnan(b));
    if (keep_nan) return std::numeric_limits<T>::quiet_NaN();
    result = std::isnan(a) ? b : a;
  } else if (a == b) {
    result = std::signbit(a) == least ? a : b;  // -0 is less than +0
  } else {
    result = (a < b) == least ? a : b;
  }
  return (inst.flags & kFlagXorsign) != 0 ? std::copysign(result, negative ? T{-1} : T{1}) : result;
}

template <typename T>
void Extremes(char* const* bases, const Inst& inst, std::uint32_t mask, bool least) {
  if (inst.sources == 3) {
    ForLanes3<T, T, T, T>(bases, inst, mask, [&](T a, T b, T c) {
      const T first = LeastOrGreatest(Input(a, inst), Input(b, inst), inst, least);
      return Output(LeastOrGreatest(first, Input(c, inst), inst, least), inst);
    });
    return;
  }
  ForLanes2<T, T, T>(bases, inst, mask, [&](T a, T b) {
    return Output(LeastOrGreatest(Input(a, inst), Input(b, inst), inst, least), inst);
  });
}
template <typename T>
void Minimum(char* const* bases, const Inst& inst, std::uint32_t mask) {
  Extremes<T>(bases, inst, mask, true);
}
template <typename T>
void Maximum(char* const* bases, const Inst& inst, std::uint32_t mask) {
  Extremes<T>(bases, inst, mask, false);
}

// abs and neg only touch the sign, also of a NaN.
template <typename T>
void AbsoluteValue(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<T, T>(bases, inst, mask, [&](T a) { return std::fabs(Input(a, inst)); });
}
template <typename T>
void Negated(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes1<T, T>(bases, inst, mask, [&](T a) { return -Input(a, inst); });
}
// copysign d, a, b: the sign of a with the magnitude of b.
template <typename T>
void CopySign(char* const* bases, const Inst& inst, std::uint32_t mask) {
  ForLanes2<T, T, T>(bases, inst, mask, [](T a, T b) { return std::copysign(b, a); });
}

template <typename T>
AluFunction OfType(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
      return Each2<T, Plus>;
    case AluOp::kSub:
      return Each2<T, Minus>;
    case AluOp::kMulLo:
      return Each2<T, Times>;
    case AluOp::kDiv:
      return Each2<T, Over>;
    case AluOp::kFma:
      return Fused<T>;
    case AluOp::kRcp:
      return Each1<T, Reciprocal>;
    case AluOp::kSqrt:
      return Each1<T, SquareRoot>;
    case AluOp::kRsqrt:
      return Each1<T, ReciprocalRoot>;
    case AluOp::kMin:
      return Minimum<T>;
    case AluOp::kMax:
      return Maximum<T>;
    case AluOp::kAbs:
      return AbsoluteValue<T>;
    case AluOp::kNeg:
      return Negated<T>;
    case AluOp::kCopysign:
      return CopySign<T>;
    default:
      return nullptr;
  }
}

}  // namespace

AluFunction FloatAlu(AluOp op, const Inst& inst) {
  if (inst.type == Type::kF64) {
    if (op == AluOp::kRcp && (inst.flags & kFlagApprox) != 0) return UpperHalf<Reciprocal>;
    if (op == AluOp::kRsqrt && inst.ftz) return UpperHalf<ReciprocalRoot>;
    return OfType<double>(op);
  }
  if (inst.type != Type::kF32) return nullptr;
  switch (op) {
    case AluOp::kEx2:
      return Each1<float, Exponential2>;
    case AluOp::kLg2:
      return Each1<float, Logarithm2>;
    case AluOp::kSin:
      return Each1<float, Sine>;
    case AluOp::kCos:
      return Each1<float, Cosine>;
    case AluOp::kTanh:
      return Each1<float, HyperbolicTangent>;
    default:
      return OfType<float>(op);
  }
}

}  // namespace upskill::ptx
