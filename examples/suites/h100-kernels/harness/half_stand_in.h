// SPDX-License-Identifier: Apache-2.0
// Stands in for cuda_fp16.h and cuda_bf16.h: storage and conversions, rounded to nearest even. Arithmetic is done in
// float, as the inputs of the cases ask.
#pragma once

#include "cuda_stand_in.h"

struct __half {
  uint16_t bits;
};
struct alignas(4) __half2 {
  __half x, y;
};
struct __nv_bfloat16 {
  uint16_t bits;
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
};
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

inline float __half2float(__half h) {
  const int exponent = h.bits >> 10 & 31, mantissa = h.bits & 1023;
  float value = exponent == 0    ? ldexpf(float(mantissa), -24)
                : exponent == 31 ? (mantissa != 0 ? NAN : INFINITY)
                                 : ldexpf(float(mantissa + 1024), exponent - 25);
  return (h.bits & 0x8000) != 0 ? -value : value;
}
inline __half __float2half(float x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const float size = fabsf(x);
  if (isnan(x)) return {0x7fff};
  if (size >= 65520.0F) return {uint16_t(sign | 0x7c00)};
  if (size < 6.103515625e-05F) return {uint16_t(sign | uint16_t(lrintf(ldexpf(size, 24))))};
  int exponent = 0;
  frexpf(size, &exponent);
  const int steps = int(lrintf(ldexpf(size, 11 - exponent)));  // 1024 to 2048
  return {uint16_t(sign | (uint16_t(exponent + 13) * 1024 + uint16_t(steps)))};
}
inline __half __float2half_rn(float x) { return __float2half(x); }
inline float2 __half22float2(__half2 h) { return {__half2float(h.x), __half2float(h.y)}; }
inline __half2 __floats2half2_rn(float x, float y) { return {__float2half(x), __float2half(y)}; }
inline __half2 __float22half2_rn(float2 v) { return __floats2half2_rn(v.x, v.y); }
inline __half2 __halves2half2(__half x, __half y) { return {x, y}; }
inline float __low2float(__half2 h) { return __half2float(h.x); }
inline float __high2float(__half2 h) { return __half2float(h.y); }

inline float __bfloat162float(__nv_bfloat16 b) { return __uint_as_float(unsigned(b.bits) << 16); }
inline __nv_bfloat16 __float2bfloat16(float x) {
  if (isnan(x)) return {0x7fff};
  const unsigned u = __float_as_uint(x);
  return {uint16_t((u + 0x7fff + (u >> 16 & 1)) >> 16)};
}
inline __nv_bfloat16 __float2bfloat16_rn(float x) { return __float2bfloat16(x); }
inline float2 __bfloat1622float2(__nv_bfloat162 b) { return {__bfloat162float(b.x), __bfloat162float(b.y)}; }
inline __nv_bfloat162 __floats2bfloat162_rn(float x, float y) { return {__float2bfloat16(x), __float2bfloat16(y)}; }
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) { return __floats2bfloat162_rn(v.x, v.y); }
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
