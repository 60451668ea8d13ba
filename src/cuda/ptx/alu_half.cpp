// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f16, bf16 and their pairs, and of pairs of 16-bit integers. Each half is computed in double and rounded
// once.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cuda/ptx/alu.h"
#include "cuda/ptx/alu_lanes.h"
#include "cuda/ptx/number_formats.h"

namespace upskill::ptx {
namespace {

struct HalfNumbers {
  static double Decode(std::uint16_t bits) { return static_cast<double>(HalfToFloat(bits)); }
  static std::uint16_t Encode(double value) { return HalfFromDouble(value); }
  static constexpr double kSmallest = 0x1p-14;
};
struct BfloatNumbers {
  static double Decode(std::uint16_t bits) { return static_cast<double>(BfloatToFloat(bits)); }
  static std::uint16_t Encode(double value) { return BfloatFromDouble(value); }
  static constexpr double kSmallest = 0x1p-126;
};

double Extreme(double a, double b, bool least, bool keep_nan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (keep_nan || (std::isnan(a) && std::isnan(b))) return std::numeric_limits<double>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) == least ? a : b;
  return (a < b) == least ? a : b;
}

double Compute(AluOp op, double a, double b, double c, const Inst& inst) {
  switch (op) {
    case AluOp::kAdd:
      return OddAdd(a, b);
    case AluOp::kSub:
      return OddAdd(a, -b);
    case AluOp::kMulLo:
      return a * b;
    case AluOp::kFma:
      return OddFma(a, b, c);
    case AluOp::kMin:
    case AluOp::kMax:
      return Extreme(a, b, op == AluOp::kMin, (inst.flags & kFlagNan) != 0);
    case AluOp::kEx2:
      return std::exp2(a);
    case AluOp::kTanh:
      return std::tanh(a);
    default:
      return 0;
  }
}

template <typename N, AluOp kOp>
std::uint16_t One(std::uint16_t a, std::uint16_t b, std::uint16_t c, const Inst& inst) {
  if constexpr (kOp == AluOp::kNeg) return a ^ 0x8000U;
  if constexpr (kOp == AluOp::kAbs) return a & 0x7FFFU;
  const auto flush = [&](double value) {
    return inst.ftz && std::fabs(value) < N::kSmallest ? std::copysign(0.0, value) : value;
  };
  double result = Compute(kOp, flush(N::Decode(a)), flush(N::Decode(b)), flush(N::Decode(c)), inst);
  if (inst.saturate) result = result >= 1 ? 1 : (result > 0 ? result : 0);
  if ((inst.flags & kFlagRelu) != 0 && result < 0) result = 0;
  const std::uint16_t bits = N::Encode(result);
  return inst.ftz ? N::Encode(flush(N::Decode(bits))) : bits;
}

// The sources that an instruction doesn't have are the first one again.
template <typename N, AluOp kOp>
void Halves(char* const* bases, const Inst& inst, std::uint32_t mask) {
  auto* d = Lanes<std::uint16_t>(bases, inst.op[0]);
  const auto* a = Lanes<std::uint16_t>(bases, inst.op[1]);
  const auto* b = inst.sources > 1 ? Lanes<std::uint16_t>(bases, inst.op[2]) : a;
  const auto* c = inst.sources > 2 ? Lanes<std::uint16_t>(bases, inst.op[3]) : a;
  const bool pair = SizeOf(inst.type) == 4;
  for (int i = 0; i < 32; ++i) {
    if (!Active(mask, i)) continue;
    if (!pair) {
      d[i] = One<N, kOp>(a[i], b[i], c[i], inst);
      continue;
    }
    for (int k = 2 * i; k < 2 * i + 2; ++k) d[k] = One<N, kOp>(a[k], b[k], c[k], inst);
  }
}

template <typename N>
AluFunction OfNumbers(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
      return Halves<N, AluOp::kAdd>;
    case AluOp::kSub:
      return Halves<N, AluOp::kSub>;
    case AluOp::kMulLo:
      return Halves<N, AluOp::kMulLo>;
    case AluOp::kFma:
      return Halves<N, AluOp::kFma>;
    case AluOp::kMin:
      return Halves<N, AluOp::kMin>;
    case AluOp::kMax:
      return Halves<N, AluOp::kMax>;
    case AluOp::kEx2:
      return Halves<N, AluOp::kEx2>;
    case AluOp::kTanh:
      return Halves<N, AluOp::kTanh>;
    case AluOp::kNeg:
      return Halves<N, AluOp::kNeg>;
    case AluOp::kAbs:
      return Halves<N, AluOp::kAbs>;
    default:
      return nullptr;
  }
}

template <typename T, AluOp kOp>
void IntegerPairs(char* const* bases, const Inst& inst, std::uint32_t mask) {
  auto* d = Lanes<T>(bases, inst.op[0]);
  const auto* a = Lanes<T>(bases, inst.op[1]);
  const auto* b = Lanes<T>(bases, inst.op[2]);
  for (int k = 0; k < 64; ++k) {
    if (!Active(mask, k / 2)) continue;
    T result = 0;
    if constexpr (kOp == AluOp::kAdd) result = static_cast<T>(a[k] + b[k]);
    if constexpr (kOp == AluOp::kMin) result = std::min(a[k], b[k]);
    if constexpr (kOp == AluOp::kMax) result = std::max(a[k], b[k]);
    if ((inst.flags & kFlagRelu) != 0 && result < 0) result = 0;
    d[k] = result;
  }
}

template <typename T>
AluFunction OfPairs(AluOp op) {
  switch (op) {
    case AluOp::kAdd:
      return IntegerPairs<T, AluOp::kAdd>;
    case AluOp::kMin:
      return IntegerPairs<T, AluOp::kMin>;
    case AluOp::kMax:
      return IntegerPairs<T, AluOp::kMax>;
    default:
      return nullptr;
  }
}

}  // namespace

AluFunction HalfAlu(AluOp op, const Inst& inst) {
  if (inst.rounding != Rounding::kNone && inst.rounding != Rounding::kRn) return nullptr;
  switch (inst.type) {
    case Type::kF16:
    case Type::kF16x2:
      return OfNumbers<HalfNumbers>(op);
    case Type::kBf16:
    case Type::kBf16x2:
      return OfNumbers<BfloatNumbers>(op);
    case Type::kU16x2:
      return OfPairs<std::uint16_t>(op);
    case Type::kS16x2:
      return OfPairs<std::int16_t>(op);
    default:
      return nullptr;
  }
}

}  // namespace upskill::ptx
