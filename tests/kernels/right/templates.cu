// SPDX-License-Identifier: Apache-2.0
// One kernel template for several types and operations.
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

struct Square {
  template <typename T>
  __host__ __device__ T operator()(T v) const {
    return v * v;
  }
};
template <int kShift>
struct Shifted {
  template <typename T>
  __host__ __device__ T operator()(T v) const {
    return static_cast<T>(v + kShift);
  }
};
template <typename T, int kPerThread, typename Operation>
__global__ void Map(const T* in, T* out, int n, Operation operation) {
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    const int i = (blockIdx.x * kPerThread + j) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = operation(in[i]);
  }
}
template <typename T, int kPerThread, typename Operation>
bool TestMap(int n, Operation operation) {
  Random random(n);
  std::vector<T> in(n), expected(n);
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<T>(random.Below(20) - 10);
    expected[i] = operation(in[i]);
  }
  Device<T> din(in), out(n);
  T *from = din, *to = out;
  Map<T, kPerThread><<<(n + 32 * kPerThread - 1) / (32 * kPerThread), 32>>>(from, to, n, operation);
  return Equal(out.Host(), expected, 0);
}
bool Test(int n) {
  return TestMap<float, 1>(n, Square()) && TestMap<int, 4>(n, Shifted<3>()) && TestMap<double, 2>(n, Square()) &&
         TestMap<short, 3>(n, Shifted<-5>()) && TestMap<signed char, 8>(n, Shifted<1>()) &&
         TestMap<int64_t, 2>(n, Square());
}
int main() {
  const bool ok = Test(1) && Test(97) && Test(600);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
