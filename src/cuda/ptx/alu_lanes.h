// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "cuda/ptx/program.h"

// Loops over the lanes of a warp. In an anonymous namespace, because some of the files that include this are compiled
// for special processors, and what they instantiate must not be used elsewhere.
namespace upskill::ptx {
namespace {  // NOLINT

constexpr std::uint32_t kAllLanes = 0xFFFFFFFFU;

template <typename T>
inline T* Lanes(char* const* bases, std::uint32_t operand) {
  return reinterpret_cast<T*>(bases[operand >> 31U] + (operand & ~kConstantBit));
}

inline bool Active(std::uint32_t mask, int lane) { return ((mask >> static_cast<unsigned>(lane)) & 1U) != 0; }

// Lanes don't depend on each other: their registers are apart, or the same.
#if defined(__GNUC__) && !defined(__clang__)
#define UPSKILL_IVDEP _Pragma("GCC ivdep")
#else
#define UPSKILL_IVDEP
#endif

template <typename D, typename A, typename F>
inline void ForLanes1(char* const* bases, const Inst& inst, std::uint32_t mask, F f) {
  D* d = Lanes<D>(bases, inst.op[0]);
  const A* a = Lanes<A>(bases, inst.op[1]);
  if (mask == kAllLanes) {
    UPSKILL_IVDEP
    for (int i = 0; i < 32; ++i) d[i] = f(a[i]);
  } else {
    UPSKILL_IVDEP
    for (int i = 0; i < 32; ++i) d[i] = Active(mask, i) ? f(a[i]) : d[i];
  }
}

template <typename D, typename A, typename B, typename F>
inline void ForLanes2(char* const* bases, const Inst& inst, std::uint32_t mask, F f) {
  D* d = Lanes<D>(bases, inst.op[0]);
  const A* a = Lanes<A>(bases, inst.op[1]);
  const B* b = Lanes<B>(bases, inst.op[2]);
  if (mask == kAllLanes) {
    UPSKILL_IVDEP
    for (int i = 0; i < 32; ++i) d[i] = f(a[i], b[i]);
  } else {
    UPSKILL_IVDEP
    for (int i = 0; i < 32; ++i) d[i] = Active(mask, i) ? f(a[i], b[i]) : d[i];
  }
}

template <typename D, typename A, typename B, typename C, typename F>
inline void ForLanes3(char* const* bases, const Inst& inst, std::uint32_t mask, F f) {
  D* d = Lanes<D>(bases, inst.op[0]);
  const A* a = Lanes<A>(bases, inst.op[1]);
  const B* b = Lanes<B>(bases, inst.op[2]);
  const C* c = Lanes<C>(bases, inst.op[3]);
  if (mask == kAllLanes) {
    UPSKILL_IVDEP
    for (int i = 0; i < 32; ++i) d[i] = f(a[i], b[i], c[i]);
  } else {
    UPSKILL_IVDEP
    for (int i = 0; i < 32; ++i) d[i] = Active(mask, i) ? f(a[i], b[i], c[i]) : d[i];
  }
}

}  // namespace
}  // namespace upskill::ptx
