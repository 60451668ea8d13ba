// SPDX-License-Identifier: Apache-2.0
#include "cuda/ptx/number_formats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace upskill::ptx {
namespace {

std::uint32_t NanBits(const FloatFormat& format) {
  const std::uint32_t exponent_ones = (1U << static_cast<unsigned>(format.exponent_bits)) - 1;
  const std::uint32_t mantissa_ones = (1U << static_cast<unsigned>(format.mantissa_bits)) - 1;
  return (exponent_ones << static_cast<unsigned>(format.mantissa_bits)) | mantissa_ones;
}

// `value` >= 0 in units of the last place, rounded to an integer.
double RoundUnits(double units, Rounding rounding, bool negative) {
  const double low = std::floor(units);
  const double rest = units - low;
  if (rest == 0) return low;
  switch (rounding) {
    case Rounding::kRz:
      return low;
    case Rounding::kRm:
      return negative ? low + 1 : low;
    case Rounding::kRp:
      return negative ? low : low + 1;
    case Rounding::kRna:
      return rest >= 0.5 ? low + 1 : low;
    default:
      if (rest != 0.5) return rest > 0.5 ? low + 1 : low;
      return std::fmod(low, 2.0) == 0 ? low : low + 1;
  }
}

}  // namespace

std::uint32_t EncodeFloat(double value, const FloatFormat& format, Rounding rounding, bool finite) {
  const auto mantissa_bits = static_cast<unsigned>(format.mantissa_bits);
  const auto exponent_bits = static_cast<unsigned>(format.exponent_bits);
  if (std::isnan(value)) return NanBits(format);
  const bool negative = std::signbit(value);
  const std::uint32_t sign = negative ? 1U << (mantissa_bits + exponent_bits) : 0U;
  const std::uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  const std::uint32_t largest = format.has_infinity ? infinity - 1 : NanBits(format) - 1;
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  if (std::isinf(value)) {
    if (finite) return sign | largest;
    return sign | (format.has_infinity ? infinity : NanBits(format));
  }
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = std::max(std::ilogb(magnitude), 1 - bias);
  const double units = RoundUnits(std::ldexp(magnitude, format.mantissa_bits - exponent), rounding, negative);
  // A mantissa that rounds up to the next power of two carries into the exponent by itself.
  const auto mantissa = static_cast<std::uint64_t>(units);
  const std::uint64_t biased = static_cast<std::uint64_t>(exponent + bias - 1) << mantissa_bits;
  const std::uint64_t bits = biased + mantissa;
  if (bits <= largest) return sign | static_cast<std::uint32_t>(bits);
  const bool toward_zero =
      rounding == Rounding::kRz || (rounding == Rounding::kRm && !negative) || (rounding == Rounding::kRp && negative);
  if (finite || toward_zero) return sign | largest;
  return sign | (format.has_infinity ? infinity : NanBits(format));
}

double DecodeFloat(std::uint32_t bits, const FloatFormat& format) {
  const auto mantissa_bits = static_cast<unsigned>(format.mantissa_bits);
  const auto exponent_bits = static_cast<unsigned>(format.exponent_bits);
  const std::uint32_t mantissa = bits & ((1U << mantissa_bits) - 1);
  const std::uint32_t exponent = (bits >> mantissa_bits) & ((1U << exponent_bits) - 1);
  const bool negative = ((bits >> (mantissa_bits + exponent_bits)) & 1U) != 0;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint32_t all_ones = (1U << exponent_bits) - 1;
  double magnitude = 0;
  if (format.has_infinity ? exponent == all_ones : (bits & NanBits(format)) == NanBits(format)) {
    magnitude = format.has_infinity && mantissa == 0 ? std::numeric_limits<double>::infinity()
                                                     : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(mantissa, 1 - bias - format.mantissa_bits);
  } else {
    magnitude = std::ldexp(mantissa + (1U << mantissa_bits), static_cast<int>(exponent) - bias - format.mantissa_bits);
  }
  return negative ? -magnitude : magnitude;
}

std::uint16_t HalfFromDouble(double value) {
  return static_cast<std::uint16_t>(EncodeFloat(value, kHalfFormat, Rounding::kRn, false));
}

std::uint16_t BfloatFromDouble(double value) {
  return static_cast<std::uint16_t>(EncodeFloat(value, kBfloatFormat, Rounding::kRn, false));
}

double OddAdd(double a, double b) {
  const double sum = a + b;
  if (!std::isfinite(sum)) return sum;
  // The exact error of the sum (Knuth, TAOCP 4.2.2, theorem B).
  const double part = sum - a;
  const double error = (a - (sum - part)) + (b - part);
  auto bits = std::bit_cast<std::uint64_t>(sum);
  if (error == 0 || (bits & 1U) != 0) return sum;
  const bool away = (error > 0) == (sum > 0);
  bits = away ? bits + 1 : bits - 1;
  return std::bit_cast<double>(bits);
}

double OddFma(double a, double b, double c) { return OddAdd(a * b, c); }  // the product of two halves is exact

void RoundingScope::SetRounding(int rounding) {
#ifdef __SSE2__
  // All that is computed here is computed by SSE. std::fesetround also waits for the old floating-point unit.
  _mm_setcsr((_mm_getcsr() & ~0x6000U) | (static_cast<unsigned>(rounding) << 3U));
#else
  std::fesetround(rounding);
#endif
}

RoundingScope::RoundingScope(Rounding rounding) {
  switch (rounding) {
    case Rounding::kRz:
    case Rounding::kRzi:
      SetRounding(FE_TOWARDZERO);
      break;
    case Rounding::kRm:
    case Rounding::kRmi:
      SetRounding(FE_DOWNWARD);
      break;
    case Rounding::kRp:
    case Rounding::kRpi:
      SetRounding(FE_UPWARD);
      break;
    default:
      changed_ = false;
  }
}

float FlushSubnormal(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}

}  // namespace upskill::ptx
