// SPDX-License-Identifier: Apache-2.0
// c = a transpose(b), 64 x 8, by one warp group: a in registers, b in shared memory without swizzle. arch=sm_90a
#include <cuda_fp16.h>
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

__device__ unsigned Pair(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
}
__global__ void Gemm(const __half* a, const __half* b, float* c, int k) {
  __shared__ __align__(128) __half bs[2][8][8];  // two core matrices of 8 rows by 16 bytes
  const int t = threadIdx.x, row = t / 32 * 16 + t % 32 / 4, pair = t % 4 * 2;
  const uint64_t address = static_cast<uint64_t>(__cvta_generic_to_shared(bs));
  const uint64_t descriptor = (address & 0x3ffff) >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32;
  float d[4] = {};
  for (int i = 0; i < k; i += 16) {
    bs[t / 64][t % 64 / 8][t % 8] = b[t % 64 / 8 * k + i + t / 64 * 8 + t % 8];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const __half *top = a + row * k + i + pair, *bottom = top + 8 * k;
    const unsigned a0 = Pair(top[0], top[1]), a1 = Pair(bottom[0], bottom[1]), a2 = Pair(top[8], top[9]),
                   a3 = Pair(bottom[8], bottom[9]);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(descriptor));
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    __syncthreads();
  }
  float* to = c + row * 8 + pair;
  to[0] = d[0], to[1] = d[1], to[64] = d[2], to[65] = d[3];
}
bool Test(int k) {
  Random random(k);
  std::vector<__half> a(64 * k), b(8 * k);
  for (auto& v : a) v = __float2half(random.Uniform());
  for (auto& v : b) v = __float2half(random.Uniform());
  std::vector<double> expected(64 * 8);
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 8; ++j)
      for (int l = 0; l < k; ++l)
        expected[i * 8 + j] += double(__half2float(a[i * k + l])) * __half2float(b[j * k + l]);
  Device<__half> da(a), db(b);
  Device<float> c(64 * 8);
  Gemm<<<1, 128>>>(da, db, c, k);
  return Equal(c.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(16) && Test(48);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
