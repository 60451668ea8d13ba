// SPDX-License-Identifier: Apache-2.0
// What a case's test needs: inputs, poisoned outputs, launches, comparison. Tests end at the first failure.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include <vector>

#include "half_stand_in.h"

void RunGrid(dim3 grid, dim3 block, void (*kernel)(void*), void* data);
void ResetMemory();
char* AddBuffer(size_t bytes, bool read_only);  // filled with 0xff, which is NaN in floating point

inline char g_what[160] = "";

template <class Kernel>
void Launch(dim3 grid, dim3 block, Kernel kernel) {
  RunGrid(grid, block, [](void* data) { (*static_cast<Kernel*>(data))(); }, &kernel);
}

[[noreturn]] inline void Fail(const char* text) {
  fprintf(stderr, "FAIL: %s: %s\n", g_what, text);
  fflush(stderr);
  _Exit(1);
}

// Begins a test with fresh buffers; its name is in the messages.
template <class... Numbers>
void Test(const char* format, Numbers... numbers) {
  snprintf(g_what, sizeof g_what, format, numbers...);
  ResetMemory();
}

template <class T>
const T* Input(const std::vector<T>& values) {
  char* const at = AddBuffer(values.size() * sizeof(T), true);
  memcpy(at, values.data(), values.size() * sizeof(T));
  return reinterpret_cast<const T*>(at);
}

template <class T>
T* Output(size_t count) {
  return reinterpret_cast<T*>(AddBuffer(count * sizeof(T), false));
}

template <class T>
T* InOut(const std::vector<T>& values) {
  T* const at = Output<T>(values.size());
  memcpy(at, values.data(), values.size() * sizeof(T));
  return at;
}

// Different values at each call, the same in each run.
inline uint64_t NextRandom() {
  static uint64_t state = 0x9e3779b97f4a7c15ULL;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545f4914f6cdd1dULL >> 11;
}
inline float Uniform(float low, float high) { return low + (high - low) * float(double(NextRandom()) * 0x1p-53); }
inline std::vector<float> Uniforms(size_t count, float low, float high) {
  std::vector<float> values(count);
  for (float& value : values) value = Uniform(low, high);
  return values;
}

// Each value must be within `relative` of the expected value's size, or within `absolute`.
template <class T, class U>
void Compare(const T* got, const std::vector<U>& expected, double relative, double absolute, const char* name = "out") {
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = double(got[i]), want = double(expected[i]);
    if (std::fabs(value - want) <= relative * std::fabs(want) + absolute || value == want) continue;
    char text[160];
    snprintf(text, sizeof text, "%s[%zu] is %.9g instead of %.9g", name, i, std::isnan(value) ? NAN : value, want);
    Fail(text);
  }
}

inline int Finish() {
  puts("all tests passed");
  return 0;
}
