// SPDX-License-Identifier: Apache-2.0
// Sorts by 4 bits a pass, stable: counts per block, their exclusive sums, then each key to its place.
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

constexpr int kBlock = 64;
__global__ void Count(const unsigned* in, int* counts, int shift, int n) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) atomicAdd(&bins[in[i] >> shift & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}
__global__ void Accumulate(int* counts, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    const int count = counts[i];
    counts[i] = sum;
    sum += count;
  }
}
__global__ void Scatter(const unsigned* in, unsigned* out, const int* places, int shift, int n) {
  __shared__ unsigned char digits[kBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const unsigned key = i < n ? in[i] : 0;
  const int digit = i < n ? key >> shift & 15 : 16;
  digits[threadIdx.x] = static_cast<unsigned char>(digit);
  __syncthreads();
  if (i >= n) return;
  int rank = 0;
  for (int t = 0; t < threadIdx.x; ++t) rank += digits[t] == digit;
  out[places[digit * gridDim.x + blockIdx.x] + rank] = key;
}
bool Test(int n) {
  Random random(n);
  std::vector<unsigned> in(n);
  for (unsigned& key : in) key = random.Bits();
  std::vector<unsigned> expected = in;
  std::sort(expected.begin(), expected.end());
  const int blocks = (n + kBlock - 1) / kBlock;
  Device<unsigned> a(in), b(n);
  Device<int> counts(16 * blocks);
  unsigned *from = a, *to = b;
  for (int shift = 0; shift < 32; shift += 4) {
    Count<<<blocks, kBlock>>>(from, counts, shift, n);
    Accumulate<<<1, 1>>>(counts, 16 * blocks);
    Scatter<<<blocks, kBlock>>>(from, to, counts, shift, n);
    std::swap(from, to);
  }
  return Equal(a.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
