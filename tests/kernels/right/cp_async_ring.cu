// SPDX-License-Identifier: Apache-2.0
// Row sums through a ring of four buffers that cp.async fills three steps ahead (inline PTX).
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

constexpr int kStages = 4, kThreads = 64;
__global__ void RowSums(const float4* in, float* out, int steps) {
  __shared__ __align__(16) float4 ring[kStages][kThreads];
  __shared__ float sums[kThreads];
  const int t = threadIdx.x;
  in += static_cast<size_t>(blockIdx.x) * steps * kThreads;
  auto fetch = [&](int step) {
    if (step < steps) {
      const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&ring[step % kStages][t]));
      asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + step * kThreads + t) : "memory");
    }
    asm volatile("cp.async.commit_group;" ::
                     : "memory");  // an empty group too, so that the count stays right at the end
  };
  for (int step = 0; step < kStages - 1; ++step) fetch(step);
  float sum = 0;
  for (int step = 0; step < steps; ++step) {
    asm volatile("cp.async.wait_group %0;" ::"n"(kStages - 2) : "memory");
    __syncthreads();
    const float4 v = ring[step % kStages][(t + 1) % kThreads];  // what the neighbour has fetched
    sum += v.x + v.y + v.z + v.w;
    fetch(step + kStages - 1);
  }
  sums[t] = sum;
  __syncthreads();
  if (t != 0) return;
  for (int i = 1; i < kThreads; ++i) sum += sums[i];
  out[blockIdx.x] = sum;
}
bool Test(int rows, int steps) {
  const int cols = steps * kThreads * 4;
  const std::vector<float> in = Random(steps).Values(rows * cols);
  std::vector<double> expected(rows);
  for (int i = 0; i < rows * cols; ++i) expected[i / cols] += in[i];
  Device<float> din(in), out(rows);
  const float* pointer = din;
  RowSums<<<rows, kThreads>>>(reinterpret_cast<const float4*>(pointer), out, steps);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1, 1) && Test(2, 3) && Test(3, 9);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
