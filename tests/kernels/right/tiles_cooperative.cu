// SPDX-License-Identifier: Apache-2.0
// Sums, maxima and scans in tiles of 8 lanes, and one atomic for each coalesced group.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
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
__global__ void Tiles(const int* in, int* sums, int* scans, int* positive, int n) {
  const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = i < n ? in[i] : 0;
  const int sum = cg::reduce(tile, v, cg::plus<int>()), scan = cg::inclusive_scan(tile, v);
  if (i < n) scans[i] = scan;
  if (tile.thread_rank() == 0 && i < n) sums[i / 8] = sum;
  if (v > 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    if (group.thread_rank() == 0) atomicAdd(positive, static_cast<int>(group.size()));
  }
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), sums((n + 7) / 8), scans(n), positive(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(21) - 10;
    sums[i / 8] += in[i];
    scans[i] = in[i] + (i % 8 == 0 ? 0 : scans[i - 1]);
    positive[0] += in[i] > 0;
  }
  Device<int> din(in), dsums(sums.size()), dscans(n), dpositive(std::vector<int>(1, 0));
  Tiles<<<(n + 63) / 64, 64>>>(din, dsums, dscans, dpositive, n);
  return Equal(dsums.Host(), sums, 0) && Equal(dscans.Host(), scans, 0) && Equal(dpositive.Host(), positive, 0);
}
int main() {
  const bool ok = Test(1) && Test(63) && Test(500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
