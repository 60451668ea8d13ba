// SPDX-License-Identifier: Apache-2.0
// Batcher's network: sorts keys with their values in one block, without divergence between equal keys.
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

__global__ void Sort(int* keys, int* values, int n) {
  extern __shared__ int shared[];
  int* k = shared;
  int* v = shared + n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = keys[i], v[i] = values[i];
  __syncthreads();
  for (int p = 1; p < n; p *= 2) {
    for (int q = p; q > 0; q /= 2) {
      for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const int first = q % p, partner = i + q;
        const bool compares = i >= first && (i - first) / q % 2 == 0 && i / (2 * p) == partner / (2 * p);
        if (compares && partner < n && k[i] > k[partner]) {
          const int key = k[i], value = v[i];
          k[i] = k[partner], v[i] = v[partner];
          k[partner] = key, v[partner] = value;
        }
      }
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) keys[i] = k[i], values[i] = v[i];
}
bool Test(int n) {
  Random random(n);
  std::vector<int> keys(n), values(n);
  for (int i = 0; i < n; ++i) keys[i] = random.Below(10000), values[i] = keys[i] * 3 + 1;
  std::vector<int> expected = keys, expected_values(n);
  std::sort(expected.begin(), expected.end());
  for (int i = 0; i < n; ++i) expected_values[i] = expected[i] * 3 + 1;
  Device<int> dkeys(keys), dvalues(values);
  Sort<<<1, 64, 2 * n * sizeof(int)>>>(dkeys, dvalues, n);
  return Equal(dkeys.Host(), expected, 0) && Equal(dvalues.Host(), expected_values, 0);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(77) && Test(256);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
