// SPDX-License-Identifier: Apache-2.0
// Three arrays of different types in one piece of dynamic shared memory, more than 48 KiB of it.
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

__global__ void Sort(const double* keys, const short* tags, double* out, short* tag_out, int n) {
  extern __shared__ double memory[];
  double* k = memory;
  int* place = reinterpret_cast<int*>(k + n);
  short* g = reinterpret_cast<short*>(place + n);
  for (int i = threadIdx.x; i < n; i += blockDim.x) k[i] = keys[i], g[i] = tags[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    int rank = 0;
    for (int j = 0; j < n; ++j) rank += k[j] < k[i] || (k[j] == k[i] && j < i);
    place[rank] = i;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = k[place[i]], tag_out[i] = g[place[i]];
}
bool Test(int n, size_t spare) {
  Random random(n);
  std::vector<double> keys(n);
  std::vector<short> tags(n);
  for (int i = 0; i < n; ++i) keys[i] = random.Below(200), tags[i] = static_cast<short>(i);
  std::vector<short> order = tags;
  std::stable_sort(order.begin(), order.end(), [&](short a, short b) { return keys[a] < keys[b]; });
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = keys[order[i]];
  Device<double> dkeys(keys), out(n);
  Device<short> dtags(tags), tag_out(n);
  const size_t bytes = n * (sizeof(double) + sizeof(int) + sizeof(short)) + spare;
  CHECK(cudaFuncSetAttribute(Sort, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
  Sort<<<1, 128, bytes>>>(dkeys, dtags, out, tag_out, n);
  return Equal(out.Host(), expected, 0) && Equal(tag_out.Host(), order, 0);
}
int main() {
  const bool ok = Test(1, 0) && Test(333, 0) && Test(400, 60000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
