// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cfenv>
#include <cstdint>

#include "cuda/ptx/types.h"

namespace upskill::ptx {

// A binary floating-point format narrower than a double.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // without the hidden one
  bool has_infinity;  // e4m3 has none: its largest exponent holds numbers, all ones is NaN
};
constexpr FloatFormat kHalfFormat{5, 10, true};
constexpr FloatFormat kBfloatFormat{8, 7, true};
constexpr FloatFormat kTf32Format{8, 10, true};
constexpr FloatFormat kE4m3Format{4, 3, false};
constexpr FloatFormat kE5m2Format{5, 2, true};

// The bits of `value` rounded to the format. kRn to even, kRna half away from zero, kRz, kRm, kRp. NaN is canonical.
// With `finite`, what is too large becomes the largest finite number.
std::uint32_t EncodeFloat(double value, const FloatFormat& format, Rounding rounding, bool finite);
double DecodeFloat(std::uint32_t bits, const FloatFormat& format);

float HalfToFloat(std::uint16_t bits);
float BfloatToFloat(std::uint16_t bits);
std::uint16_t HalfFromDouble(double value);  // to nearest even
std::uint16_t BfloatFromDouble(double value);
// a * b + c, rounded so that rounding it once more to 24 bits or less is right (round to odd).
double OddFma(double a, double b, double c);
double OddAdd(double a, double b);

// Sets the processor's rounding for its lifetime.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope() { std::fesetround(FE_TONEAREST); }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;
};

float FlushSubnormal(float value);  // to zero of the same sign

}  // namespace upskill::ptx
