// SPDX-License-Identifier: Apache-2.0
// bug: kind=deadlock line=90,91,93 words=the mbarrier waits for 64 arrivals, the producer warp makes 32
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

__device__ unsigned Address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__global__ void Pass(const float* in, float* out) {
  __shared__ float slot[32];
  __shared__ __align__(8) uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(Address(&full)) : "memory");
  __syncthreads();
  if (t >= 32) {
    slot[t - 32] = in[t - 32];
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(Address(&full)) : "memory");
  } else {
    unsigned done = 0;
    while (done == 0) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(Address(&full))
                   : "memory");
    }
    out[t] = slot[31 - t];
  }
}
int main() {
  const int n = 32;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[31 - i];
  Device<float> din(in), out(n);
  Pass<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
