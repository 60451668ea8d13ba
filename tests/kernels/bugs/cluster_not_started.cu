// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=85 words=the shared memory of another block is written before the cluster has synchronised once
#include <cooperative_groups.h>
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

namespace cg = cooperative_groups;
__global__ void __cluster_dims__(2, 1, 1) PairSums(const float* in, float* out) {
  __shared__ float values[64];
  cg::cluster_group cluster = cg::this_cluster();
  const int i = blockIdx.x * 64 + threadIdx.x;
  float* other = cluster.map_shared_rank(values, cluster.block_rank() ^ 1);
  other[threadIdx.x] = in[i];
  cluster.sync();
  out[i] = in[i] + values[threadIdx.x];
}
bool Test(int pairs) {
  const std::vector<float> in = Random(pairs).Values(pairs * 128);
  std::vector<double> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) expected[i] = double(in[i]) + in[i ^ 64];
  Device<float> din(in), out(in.size());
  PairSums<<<2 * pairs, 64>>>(din, out);
  return Equal(out.Host(), expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(3);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
