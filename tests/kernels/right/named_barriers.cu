// SPDX-License-Identifier: Apache-2.0
// Two pairs of warps work independently, each with a barrier of its own (bar.sync id, 64); then a hand-over by
// bar.arrive.
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

__global__ void Pairs(const float* in, float* out, int rounds) {
  __shared__ float values[2][64];
  __shared__ float result[64];
  const int half = threadIdx.x / 64, t = threadIdx.x % 64;
  float v = in[threadIdx.x];
  for (int round = 0; round < rounds + half; ++round) {  // the halves run for different times
    values[half][t] = v;
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
    v = 0.5f * (v + values[half][(t + round + 1) % 64]);
    asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  }
  if (half == 0) {
    result[t] = v;
    __threadfence_block();
    asm volatile("bar.arrive 3, 128;" ::: "memory");
  } else {
    asm volatile("bar.sync 3, 128;" ::: "memory");
    out[t] = result[t] + v;
  }
}
bool Test(int rounds) {
  const std::vector<float> in = Random(rounds).Values(128);
  std::vector<double> expected(64);
  for (int half = 0; half < 2; ++half) {
    std::vector<double> v(in.begin() + half * 64, in.begin() + half * 64 + 64);
    for (int round = 0; round < rounds + half; ++round) {
      const std::vector<double> old = v;
      for (int t = 0; t < 64; ++t) v[t] = 0.5 * (old[t] + old[(t + round + 1) % 64]);
    }
    for (int t = 0; t < 64; ++t) expected[t] += v[t];
  }
  Device<float> din(in), out(64);
  Pairs<<<1, 128>>>(din, out, rounds);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(0) && Test(1) && Test(10);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
