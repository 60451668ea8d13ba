// SPDX-License-Identifier: Apache-2.0
// Stands in for CUDA's headers, so that g++ compiles a kernel and a test runs it on the host. A launch runs the blocks
// one after another; the threads of a block are fibres of one thread, which change at barriers and warp operations.
// g++ -fsanitize=thread inserts a call at every access to memory, and stand_in.cpp, which takes the place of the
// sanitizer's own library, looks for races, accesses outside of buffers and reads of unwritten shared memory.
#pragma once

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmath>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ thread_local
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define UNSEEN __attribute__((no_sanitize_thread))

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef struct CUstream_st* cudaStream_t;

#define STAND_IN_VECTORS(T, NAME, A2, A4)                            \
  struct alignas(A2) NAME##2 { T x, y; };                            \
  struct NAME##3 { T x, y, z; };                                     \
  struct alignas(A4) NAME##4 { T x, y, z, w; };                      \
  inline NAME##2 make_##NAME##2(T x, T y) { return {x, y}; }         \
  inline NAME##3 make_##NAME##3(T x, T y, T z) { return {x, y, z}; } \
  inline NAME##4 make_##NAME##4(T x, T y, T z, T w) { return {x, y, z, w}; }
STAND_IN_VECTORS(float, float, 8, 16)
STAND_IN_VECTORS(int, int, 8, 16)
STAND_IN_VECTORS(signed char, char, 2, 4)
STAND_IN_VECTORS(unsigned char, uchar, 2, 4)
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }

// Implemented in stand_in.cpp.
void StandInBarrier();
void StandInWarpBarrier(unsigned mask, bool orders_memory);
void* StandInWarpSlot(unsigned lane);  // 8 bytes of a lane of the running warp
unsigned StandInLane();
void StandInAtomic(const void* address, size_t size);
void StandInFence();
void StandInCopyAsync(void* to, const void* from, size_t size, size_t zeros);
void StandInCommit();
void StandInWait(size_t groups);

inline void __syncthreads() { StandInBarrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffU) { StandInWarpBarrier(mask, true); }
inline void __threadfence() { StandInFence(); }
inline void __threadfence_block() {}
inline void __pipeline_memcpy_async(void* to, const void* from, size_t size, size_t zeros = 0) {
  StandInCopyAsync(to, from, size, zeros);
}
inline void __pipeline_commit() { StandInCommit(); }
inline void __pipeline_wait_prior(size_t groups) { StandInWait(groups); }

template <class T>
UNSEEN T StandInExchange(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) <= 8, "shuffles take values of up to 8 bytes");
  memcpy(StandInWarpSlot(StandInLane()), &value, sizeof(T));
  StandInWarpBarrier(mask, false);
  T result;
  memcpy(&result, StandInWarpSlot(source), sizeof(T));
  StandInWarpBarrier(mask, false);
  return result;
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const unsigned lane = StandInLane(), w = width;
  return StandInExchange(mask, value, (lane & ~(w - 1)) | (unsigned(source) & (w - 1)));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const unsigned lane = StandInLane(), w = width, other = lane ^ unsigned(bits);
  return StandInExchange(mask, value, (other & ~(w - 1)) > (lane & ~(w - 1)) ? lane : other & 31);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = StandInLane(), w = width;
  return StandInExchange(mask, value, (lane & (w - 1)) + delta < w ? lane + delta : lane);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const unsigned lane = StandInLane(), w = width;
  return StandInExchange(mask, value, (lane & (w - 1)) >= delta ? lane - delta : lane);
}
template <class F>
UNSEEN unsigned StandInVote(unsigned mask, int predicate, F include) {
  const int value = predicate != 0;
  memcpy(StandInWarpSlot(StandInLane()), &value, sizeof value);
  StandInWarpBarrier(mask, false);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) {
    int other = 0;
    memcpy(&other, StandInWarpSlot(lane), sizeof other);
    if ((mask >> lane & 1) != 0 && include(other)) bits |= 1U << lane;
  }
  StandInWarpBarrier(mask, false);
  return bits;
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  return StandInVote(mask, predicate, [](int v) { return v != 0; });
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }

template <class T, class F>
UNSEEN T StandInUpdate(T* address, F change) {
  StandInAtomic(address, sizeof(T));
  const T old = *address;
  *address = change(old);
  return old;
}
template <class T, class U>
T atomicAdd(T* p, U v) {
  return StandInUpdate(p, [=](T old) { return T(old + T(v)); });
}
template <class T, class U>
T atomicSub(T* p, U v) {
  return StandInUpdate(p, [=](T old) { return T(old - T(v)); });
}
template <class T, class U>
T atomicMax(T* p, U v) {
  return StandInUpdate(p, [=](T old) { return old < T(v) ? T(v) : old; });
}
template <class T, class U>
T atomicMin(T* p, U v) {
  return StandInUpdate(p, [=](T old) { return T(v) < old ? T(v) : old; });
}
template <class T, class U>
T atomicExch(T* p, U v) {
  return StandInUpdate(p, [=](T) { return T(v); });
}
template <class T, class U, class V>
T atomicCAS(T* p, U compare, V v) {
  return StandInUpdate(p, [=](T old) { return old == T(compare) ? T(v) : old; });
}
template <class T, class U>
T atomicOr(T* p, U v) {
  return StandInUpdate(p, [=](T old) { return T(old | T(v)); });
}
inline unsigned atomicInc(unsigned* p, unsigned limit) {
  return StandInUpdate(p, [=](unsigned old) { return old >= limit ? 0U : old + 1; });
}

template <class T>
T __ldg(const T* p) {
  return *p;
}
inline float rsqrtf(float x) { return 1.0F / sqrtf(x); }
inline float __frsqrt_rn(float x) { return 1.0F / sqrtf(x); }
inline float __frcp_rn(float x) { return 1.0F / x; }
inline float __fsqrt_rn(float x) { return sqrtf(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
inline float StandInExp(float x) { return expf(x); }
inline float StandInLog(float x) { return logf(x); }
#define __expf(x) StandInExp(x)
#define __logf(x) StandInLog(x)
#define __powf(x, y) powf(x, y)
#define __sinf(x) sinf(x)
#define __cosf(x) cosf(x)
#define __sincosf(x, s, c) sincosf(x, s, c)
inline float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0F) : 0.0F; }
inline int __float2int_rn(float x) { return int(lrintf(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline float __int2float_rn(int x) { return float(x); }
inline int __float_as_int(float x) {
  int i;
  memcpy(&i, &x, 4);
  return i;
}
inline float __int_as_float(int i) {
  float x;
  memcpy(&x, &i, 4);
  return x;
}
inline unsigned __float_as_uint(float x) { return unsigned(__float_as_int(x)); }
inline float __uint_as_float(unsigned i) { return __int_as_float(int(i)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline float fdividef(float x, float y) { return x / y; }

// CUDA's min and max take any two types of numbers.
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<T> && std::is_arithmetic_v<U>>>
std::common_type_t<T, U> min(T a, U b) {
  using Common = std::common_type_t<T, U>;
  if constexpr (std::is_floating_point_v<Common>) return std::fmin(Common(a), Common(b));
  return Common(a) < Common(b) ? Common(a) : Common(b);
}
template <class T, class U, class = std::enable_if_t<std::is_arithmetic_v<T> && std::is_arithmetic_v<U>>>
std::common_type_t<T, U> max(T a, U b) {
  using Common = std::common_type_t<T, U>;
  if constexpr (std::is_floating_point_v<Common>) return std::fmax(Common(a), Common(b));
  return Common(a) > Common(b) ? Common(a) : Common(b);
}
