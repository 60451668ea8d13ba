// SPDX-License-Identifier: Apache-2.0
// A histogram whose bins are spread over the shared memory of a cluster of four blocks (sm_90).
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
constexpr int kBins = 256;
constexpr int kBlocks = 4;
__global__ void Histogram(const int* in, int n, int* bins) {
  __shared__ int own[kBins / kBlocks];
  cg::cluster_group cluster = cg::this_cluster();
  for (int i = threadIdx.x; i < kBins / kBlocks; i += blockDim.x) own[i] = 0;
  cluster.sync();
  const int first = cluster.block_rank() * blockDim.x + threadIdx.x;
  for (int i = first; i < n; i += kBlocks * blockDim.x) {
    const int bin = in[i];
    int* there = cluster.map_shared_rank(own, bin / (kBins / kBlocks));
    atomicAdd(there + bin % (kBins / kBlocks), 1);
  }
  cluster.sync();
  for (int i = threadIdx.x; i < kBins / kBlocks; i += blockDim.x) {
    atomicAdd(&bins[cluster.block_rank() * (kBins / kBlocks) + i], own[i]);
  }
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), expected(kBins);
  for (int& value : in) ++expected[value = random.Below(kBins)];
  Device<int> din(in), bins(std::vector<int>(kBins, 0));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(kBlocks);
  config.blockDim = dim3(96);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = kBlocks;
  attribute.val.clusterDim.y = 1;
  attribute.val.clusterDim.z = 1;
  config.attrs = &attribute;
  config.numAttrs = 1;
  CHECK(cudaLaunchKernelEx(&config, Histogram, static_cast<const int*>(din), n, static_cast<int*>(bins)));
  return Equal(bins.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1000) && Test(3001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
