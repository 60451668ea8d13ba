// SPDX-License-Identifier: Apache-2.0
// Floating-point instructions against the host's unit in all its rounding modes, and for the formats that it lacks
// against sums that are exact in double precision, rounded once.
#include <bit>
#include <cfenv>
#include <cmath>
#include <functional>
#include <limits>

#include "cuda/ptx/differential_test.h"

namespace upskill::ptx {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;

// The operands go through volatile variables, so that nothing is computed before the rounding is set.
float F32(U64 bits) { return std::bit_cast<float>(static_cast<U32>(bits)); }
double F64(U64 bits) { return std::bit_cast<double>(bits); }
U64 Bits(float value) { return std::isnan(value) ? 0x7FFFFFFFU : std::bit_cast<U32>(value); }
U64 Bits(double value) { return std::bit_cast<U64>(value); }

struct Mode {
  const char* name;
  int host;
};
constexpr std::array<Mode, 4> kModes = {
    {{"rn", FE_TONEAREST}, {"rz", FE_TOWARDZERO}, {"rm", FE_DOWNWARD}, {"rp", FE_UPWARD}}};

class RoundingOf {
 public:
  explicit RoundingOf(int mode) { std::fesetround(mode); }
  ~RoundingOf() { std::fesetround(FE_TONEAREST); }
  RoundingOf(const RoundingOf&) = delete;
  RoundingOf& operator=(const RoundingOf&) = delete;
};

template <typename T, typename F>
T Computed(int mode, T a, T b, F f) {
  const RoundingOf rounding(mode);
  volatile T x = a;
  volatile T y = b;
  volatile T result = f(x, y);
  return result;
}

template <typename T>
T FusedOnHost(int mode, T a, T b, T c) {
  const RoundingOf rounding(mode);
  volatile T x = a;
  volatile T y = b;
  volatile T z = c;
  volatile T result = std::fma(T{x}, T{y}, T{z});
  return result;
}

// NaN of doubles may be any.
void ExpectDoubles(const std::string& instruction, const std::function<double(double, double, double)>& host) {
  const std::string canonical =
      instruction + " testp.notanumber.f64 %p, %ld; selp.b64 %ld, 0x7FF8000000000000, %ld, %p;";
  ExpectAsOnHost(canonical, 'l', [&](U64 a, U64 b, U64 c) {
    const double value = host(F64(a), F64(b), F64(c));
    return std::isnan(value) ? U64{0x7FF8} << 48U : Bits(value);
  });
}

TEST(DifferentialFloat, BasicsOfSinglesInAllRoundings) {
  for (const Mode& mode : kModes) {
    const std::string r = mode.name;
    const int host = mode.host;
    ExpectAsOnHost("add." + r + ".f32 %rd, %ra, %rb;", 'r', [&](U64 a, U64 b, U64) {
      return Bits(Computed(host, F32(a), F32(b), [](float x, float y) { return x + y; }));
    });
    ExpectAsOnHost("mul." + r + ".f32 %rd, %ra, %rb;", 'r', [&](U64 a, U64 b, U64) {
      return Bits(Computed(host, F32(a), F32(b), [](float x, float y) { return x * y; }));
    });
    ExpectAsOnHost("div." + r + ".f32 %rd, %ra, %rb;", 'r', [&](U64 a, U64 b, U64) {
      return Bits(Computed(host, F32(a), F32(b), [](float x, float y) { return x / y; }));
    });
    ExpectAsOnHost("sqrt." + r + ".f32 %rd, %ra;", 'r', [&](U64 a, U64, U64) {
      return Bits(Computed(host, F32(a), 0.0F, [](float x, float) { return std::sqrt(x); }));
    });
    ExpectAsOnHost("rcp." + r + ".f32 %rd, %ra;", 'r', [&](U64 a, U64, U64) {
      return Bits(Computed(host, F32(a), 0.0F, [](float x, float) { return 1.0F / x; }));
    });
    ExpectAsOnHost("fma." + r + ".f32 %rd, %ra, %rb, %rc;", 'r',
                   [&](U64 a, U64 b, U64 c) { return Bits(FusedOnHost(host, F32(a), F32(b), F32(c))); });
  }
}

TEST(DifferentialFloat, BasicsOfDoublesInAllRoundings) {
  for (const Mode& mode : kModes) {
    const std::string r = mode.name;
    const int host = mode.host;
    ExpectDoubles("add." + r + ".f64 %ld, %la, %lb;", [&](double a, double b, double) {
      return Computed(host, a, b, [](double x, double y) { return x + y; });
    });
    ExpectDoubles("mul." + r + ".f64 %ld, %la, %lb;", [&](double a, double b, double) {
      return Computed(host, a, b, [](double x, double y) { return x * y; });
    });
    ExpectDoubles("div." + r + ".f64 %ld, %la, %lb;", [&](double a, double b, double) {
      return Computed(host, a, b, [](double x, double y) { return x / y; });
    });
    ExpectDoubles("fma." + r + ".f64 %ld, %la, %lb, %lc;",
                  [&](double a, double b, double c) { return FusedOnHost(host, a, b, c); });
  }
}

float Flushed(float value) {
  return std::fabs(value) < std::numeric_limits<float>::min() ? std::copysign(0.0F, value) : value;
}

// IEEE 754-2019's minimumNumber and, with `nan`, minimum.
float Least(float a, float b, bool nan) {
  if (std::isnan(a) || std::isnan(b)) {
    return nan || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<float>::quiet_NaN() : std::isnan(a) ? b : a;
  }
  if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

TEST(DifferentialFloat, FlushingSaturationAndExtremes) {
  ExpectAsOnHost("add.ftz.f32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Bits(Flushed(Flushed(F32(a)) + Flushed(F32(b)))); });
  ExpectAsOnHost("mul.sat.f32 %rd, %ra, %rb;", 'r', [](U64 a, U64 b, U64) {
    const float product = F32(a) * F32(b);
    return Bits(product > 0 ? std::min(product, 1.0F) : 0.0F);
  });
  ExpectAsOnHost("min.f32 %rd, %ra, %rb;", 'r', [](U64 a, U64 b, U64) { return Bits(Least(F32(a), F32(b), false)); });
  ExpectAsOnHost("min.NaN.f32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Bits(Least(F32(a), F32(b), true)); });
  ExpectAsOnHost("max.f32 %rd, %ra, %rb;", 'r',
                 [](U64 a, U64 b, U64) { return Bits(-Least(-F32(a), -F32(b), false)); });
  ExpectAsOnHost("setp.leu.f32 %p, %ra, %rb; selp.u32 %rd, 1, 0, %p;", 'r',
                 [](U64 a, U64 b, U64) { return U64{!(F32(a) > F32(b))}; });
  ExpectAsOnHost("setp.ne.f64 %p, %la, %lb; selp.u32 %rd, 1, 0, %p;", 'r',
                 [](U64 a, U64 b, U64) { return U64{F64(a) < F64(b) || F64(a) > F64(b)}; });
}

double Integral(double value, int mode) {
  const RoundingOf rounding(mode);
  volatile double x = value;
  return std::nearbyint(x);
}

// NaN becomes 0, or, from doubles and to 64 bits, the upper bit alone.
template <typename T>
U64 Saturated(double value, bool from_double = false) {
  if (std::isnan(value)) return from_double || sizeof(T) == 8 ? U64{1} << (8 * sizeof(T) - 1) : 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return static_cast<U64>(std::numeric_limits<T>::min());
  if (value >= static_cast<double>(std::numeric_limits<T>::max()))
    return static_cast<U64>(std::numeric_limits<T>::max());
  return static_cast<U64>(static_cast<T>(value));
}

TEST(DifferentialFloat, ToIntegers) {
  for (const Mode& mode : kModes) {
    const std::string r = std::string(mode.name) + "i";
    const int host = mode.host;
    ExpectAsOnHost("cvt." + r + ".s32.f32 %rd, %ra;", 'r', [&](U64 a, U64, U64) {
      return Saturated<std::int32_t>(Integral(static_cast<double>(F32(a)), host)) & 0xFFFFFFFFU;
    });
    ExpectAsOnHost("cvt." + r + ".u32.f32 %rd, %ra;", 'r', [&](U64 a, U64, U64) {
      return Saturated<std::uint32_t>(Integral(static_cast<double>(F32(a)), host));
    });
    ExpectAsOnHost("cvt." + r + ".u64.f32 %ld, %ra;", 'l', [&](U64 a, U64, U64) {
      return Saturated<std::uint64_t>(Integral(static_cast<double>(F32(a)), host));
    });
    ExpectAsOnHost("cvt." + r + ".s32.f64 %rd, %la;", 'r', [&](U64 a, U64, U64) {
      return Saturated<std::int32_t>(Integral(F64(a), host), true) & 0xFFFFFFFFU;
    });
    ExpectAsOnHost("cvt." + r + ".s8.f32 %rd, %ra;", 'r', [&](U64 a, U64, U64) {
      return Saturated<std::int8_t>(Integral(static_cast<double>(F32(a)), host)) & 0xFFFFFFFFU;
    });
    ExpectAsOnHost("cvt." + r + ".f32.f32 %rd, %ra;", 'r', [&](U64 a, U64, U64) {
      return Bits(static_cast<float>(Integral(static_cast<double>(F32(a)), host)));
    });
  }
}

template <typename To, typename From>
To Converted(int mode, From value) {
  const RoundingOf rounding(mode);
  volatile From from = value;
  volatile To to = static_cast<To>(from);
  return to;
}

TEST(DifferentialFloat, FromIntegersAndBetweenWidths) {
  for (const Mode& mode : kModes) {
    const std::string r = mode.name;
    const int host = mode.host;
    ExpectAsOnHost("cvt." + r + ".f32.s32 %rd, %ra;", 'r',
                   [&](U64 a, U64, U64) { return Bits(Converted<float>(host, static_cast<std::int32_t>(a))); });
    ExpectAsOnHost("cvt." + r + ".f32.s64 %rd, %la;", 'r',
                   [&](U64 a, U64, U64) { return Bits(Converted<float>(host, static_cast<std::int64_t>(a))); });
    ExpectAsOnHost("cvt." + r + ".f64.s64 %ld, %la;", 'l',
                   [&](U64 a, U64, U64) { return Bits(Converted<double>(host, static_cast<std::int64_t>(a))); });
    ExpectAsOnHost("cvt." + r + ".f32.f64 %rd, %la;", 'r',
                   [&](U64 a, U64, U64) { return Bits(Converted<float>(host, F64(a))); });
  }
  ExpectAsOnHost("cvt.rn.f64.u64 %ld, %la;", 'l', [](U64 a, U64, U64) { return Bits(static_cast<double>(a)); });
  ExpectAsOnHost("cvt.rn.f32.u32 %rd, %ra;", 'r',
                 [](U64 a, U64, U64) { return Bits(static_cast<float>(static_cast<U32>(a))); });
}

// A format with `mantissa` bits and exponents from `least` to `most`; all of a sum's bits are in `value` and `rest`.
struct Narrow {
  int mantissa;
  int least;
  int most;
  int width;
};
constexpr Narrow kF16{10, -14, 15, 16};
constexpr Narrow kBf16{7, -126, 127, 16};

U64 Encoded(const Narrow& format, double value, double rest, bool to_zero = false) {
  const U64 exponent_ones =
      (U64{1} << static_cast<unsigned>(format.width - 1)) - (U64{1} << static_cast<unsigned>(format.mantissa));
  const U64 sign = std::signbit(value) ? U64{1} << static_cast<unsigned>(format.width - 1) : 0;
  if (std::isnan(value)) return 0x7FFF;
  if (std::isinf(value)) return sign | exponent_ones;
  if (value == 0) return sign;
  const int exponent = std::max(std::ilogb(value), format.least);
  const double scaled = std::ldexp(std::fabs(value), format.mantissa - exponent);
  double whole = std::floor(scaled);
  const double part = scaled - whole;
  const double beyond = std::signbit(value) ? -rest : rest;  // away from zero if positive
  const bool up = part > 0.5 || (part == 0.5 && (beyond > 0 || (beyond == 0 && std::fmod(whole, 2) != 0)));
  if (up && !to_zero) whole += 1;
  if (to_zero && part == 0 && beyond < 0) whole -= 1;
  const double rounded = std::ldexp(whole, exponent - format.mantissa);
  if (rounded >= std::ldexp(1.0, format.most + 1)) return sign | (to_zero ? exponent_ones - 1 : exponent_ones);
  if (rounded < std::ldexp(1.0, format.least)) return sign | static_cast<U64>(whole);
  const int e = std::ilogb(rounded);
  const auto fraction =
      static_cast<U64>(std::ldexp(rounded, format.mantissa - e)) - (U64{1} << static_cast<unsigned>(format.mantissa));
  return sign | (static_cast<U64>(e - format.least + 1) << static_cast<unsigned>(format.mantissa)) | fraction;
}

double Decoded(const Narrow& format, U64 bits) {
  const bool negative = ((bits >> static_cast<unsigned>(format.width - 1)) & 1U) != 0;
  const U64 fraction = bits & ((U64{1} << static_cast<unsigned>(format.mantissa)) - 1);
  const auto exponent = static_cast<int>((bits & 0x7FFFU) >> static_cast<unsigned>(format.mantissa));
  double value = std::ldexp(static_cast<double>(fraction), format.least - format.mantissa);
  if (exponent > 0) {
    value = std::ldexp(static_cast<double>(fraction + (U64{1} << static_cast<unsigned>(format.mantissa))),
                       exponent - 1 + format.least - format.mantissa);
  }
  if (exponent == format.most - format.least + 2) {
    value = fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  }
  return negative ? -value : value;
}

// x + y, without an error: Knuth's two-sum.
U64 EncodedSum(const Narrow& format, double x, double y) {
  const double sum = x + y;
  const double part = sum - x;
  const double rest = (x - (sum - part)) + (y - part);
  return Encoded(format, sum, std::isfinite(sum) ? rest : 0);
}

TEST(DifferentialFloat, Halves) {
  for (const bool bfloat : {false, true}) {
    const Narrow& format = bfloat ? kBf16 : kF16;
    const std::string type = bfloat ? "bf16" : "f16";
    const auto value = [&](U64 bits) { return Decoded(format, bits & 0xFFFFU); };
    ExpectAsOnHost("add.rn." + type + " %hd, %ha, %hb;", 'h',
                   [&](U64 a, U64 b, U64) { return EncodedSum(format, value(a), value(b)); });
    ExpectAsOnHost("sub.rn." + type + " %hd, %ha, %hb;", 'h',
                   [&](U64 a, U64 b, U64) { return EncodedSum(format, value(a), -value(b)); });
    ExpectAsOnHost("mul.rn." + type + " %hd, %ha, %hb;", 'h',
                   [&](U64 a, U64 b, U64) { return Encoded(format, value(a) * value(b), 0); });
    ExpectAsOnHost("fma.rn." + type + " %hd, %ha, %hb, %hc;", 'h',
                   [&](U64 a, U64 b, U64 c) { return EncodedSum(format, value(a) * value(b), value(c)); });
    ExpectAsOnHost("fma.rn." + type + "x2 %rd, %ra, %rb, %rc;", 'r', [&](U64 a, U64 b, U64 c) {
      const U64 upper = EncodedSum(format, value(a >> 16U) * value(b >> 16U), value(c >> 16U));
      return EncodedSum(format, value(a) * value(b), value(c)) | (upper << 16U);
    });
    ExpectAsOnHost("cvt.rn." + type + ".f32 %hd, %ra;", 'h',
                   [&](U64 a, U64, U64) { return Encoded(format, static_cast<double>(F32(a)), 0); });
    ExpectAsOnHost("cvt.rz." + type + ".f32 %hd, %ra;", 'h',
                   [&](U64 a, U64, U64) { return Encoded(format, static_cast<double>(F32(a)), 0, true); });
    // NaN keep their payloads, which isn't specified.
    const std::string canonical = " testp.notanumber.f32 %p, %rd; selp.b32 %rd, 0x7FFFFFFF, %rd, %p;";
    ExpectAsOnHost("cvt.f32." + type + " %rd, %ha;" + canonical, 'r',
                   [&](U64 a, U64, U64) { return Bits(static_cast<float>(value(a))); });
  }
}

}  // namespace
}  // namespace upskill::ptx
