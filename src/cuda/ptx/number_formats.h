// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
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

inline float HalfToFloat(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t rest = (bits & 0x7FFFU) << 13U;
  // The exponent's bias is made up for by a product that is exact, also for subnormal numbers.
  const auto finite = std::bit_cast<std::uint32_t>(std::bit_cast<float>(rest) * 0x1p112F);
  return std::bit_cast<float>(sign | (rest >= 0x0F800000U ? rest | 0x7F800000U : finite));
}
inline float BfloatToFloat(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t{bits} << 16U); }
std::uint16_t HalfFromDouble(double value);  // to nearest even
std::uint16_t BfloatFromDouble(double value);
// a * b + c, rounded so that rounding it once more to 24 bits or less is right (round to odd).
double OddFma(double a, double b, double c);
double OddAdd(double a, double b);

// Sets the processor's rounding for its lifetime. Otherwise, it is to nearest.
class RoundingScope {
 public:
  explicit RoundingScope(Rounding rounding);
  ~RoundingScope() {
    if (changed_) SetRounding(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  static void SetRounding(int rounding);

  bool changed_ = true;
};

float FlushSubnormal(float value);  // to zero of the same sign

}  // namespace upskill::ptx
