// SPDX-License-Identifier: Apache-2.0
// Counting, reversing, permuting and shifting bits, and dot products of four bytes.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                  \
  do {                                                                               \
    const cudaError_t status = (call);                                               \
    if (status != cudaSuccess) {                                                     \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

// An array in the device's memory.
template <typename T>
class Device {
 public:
  explicit Device(size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
  explicit Device(const std::vector<T>& host) : Device(host.size()) {
    CHECK(cudaMemcpy(data_, host.data(), count_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~Device() { cudaFree(data_); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  operator T*() const { return data_; }
  std::vector<T> Host() const {
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    std::vector<T> host(count_);
    CHECK(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
    return host;
  }

 private:
  T* data_ = nullptr;
  size_t count_;
};

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint32_t Bits() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33) ^ static_cast<uint32_t>(state_ >> 17);
  }
  int Below(int bound) { return static_cast<int>(Bits() % static_cast<uint32_t>(bound)); }
  float Uniform() { return static_cast<float>(Bits() >> 8) / 8388608.0f - 1.0f; }  // in [-1, 1)
  std::vector<float> Values(size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = Uniform();
    return values;
  }

 private:
  uint64_t state_;
};

// Whether |got - expected| <= tolerance * (1 + |expected|) everywhere.
template <typename T, typename E>
bool Equal(const std::vector<T>& got, const std::vector<E>& expected, double tolerance) {
  for (size_t i = 0; i < expected.size(); ++i) {
    const double a = static_cast<double>(got[i]), b = static_cast<double>(expected[i]);
    if (!(std::fabs(a - b) <= tolerance * (1 + std::fabs(b)))) {
      std::printf("[%zu of %zu]: %.9g instead of %.9g\n", i, expected.size(), a, b);
      return false;
    }
  }
  return true;
}

__global__ void Tricks(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned x = a[i], y = b[i];
  unsigned* to = out + 10 * i;
  to[0] = __popc(x);
  to[1] = __clz(x);
  to[2] = __ffs(x);
  to[3] = __brev(x);
  to[4] = __byte_perm(x, y, 0x7210);
  to[5] = __funnelshift_l(x, y, y & 31);
  to[6] = __dp4a(static_cast<int>(x), static_cast<int>(y), -5);
  to[7] = (x & y) ^ (~x | y);
  to[8] = __umulhi(x, y);
  to[9] = static_cast<unsigned>(static_cast<int>(x) >> (y & 31));
}
bool Test(int n) {
  Random random(n);
  std::vector<unsigned> a(n), b(n), expected;
  for (int i = 0; i < n; ++i) {
    const unsigned x = a[i] = i == 0 ? 0 : random.Bits() >> random.Below(32), y = b[i] = random.Bits();
    unsigned count = 0, leading = 32, first = 0, reversed = 0;
    for (int j = 0; j < 32; ++j) {
      if ((x >> j & 1) == 0) continue;
      ++count;
      leading = 31 - j;
      if (first == 0) first = j + 1;
      reversed |= 1u << (31 - j);
    }
    int dot = -5;
    for (int j = 0; j < 32; j += 8) dot += static_cast<signed char>(x >> j) * static_cast<signed char>(y >> j);
    const uint64_t both = static_cast<uint64_t>(y) << 32 | x;
    for (unsigned v : {count, leading, first, reversed, (x & 0xffffffu) | (y & 0xff000000u),
                       static_cast<unsigned>(both << (y & 31) >> 32), static_cast<unsigned>(dot), (x & y) ^ (~x | y),
                       static_cast<unsigned>(static_cast<uint64_t>(x) * y >> 32),
                       static_cast<unsigned>(static_cast<int64_t>(static_cast<int>(x)) >> (y & 31))})
      expected.push_back(v);
  }
  Device<unsigned> da(a), db(b), out(10 * n);
  Tricks<<<(n + 63) / 64, 64>>>(da, db, out, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
