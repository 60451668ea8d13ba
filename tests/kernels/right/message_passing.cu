// SPDX-License-Identifier: Apache-2.0
// A block hands values to the next one by release and acquire on a flag (cuda::atomic_ref).
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
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

__global__ void Relay(const int* in, int* mail, int* flags, int* out) {
  const int b = blockIdx.x, t = threadIdx.x;
  int v = in[b * 32 + t];
  if (b > 0) {
    if (t == 0) {
      cuda::atomic_ref<int, cuda::thread_scope_device> flag(flags[b - 1]);
      while (flag.load(cuda::memory_order_acquire) == 0) {
      }
    }
    __syncthreads();
    v += mail[(b - 1) * 32 + 31 - t];
  }
  mail[b * 32 + t] = v;
  __syncthreads();
  if (t == 0) cuda::atomic_ref<int, cuda::thread_scope_device>(flags[b]).store(1, cuda::memory_order_release);
  out[b * 32 + t] = v;
}
bool Test(int blocks) {
  Random random(blocks);
  std::vector<int> in(blocks * 32), expected(blocks * 32);
  for (int i = 0; i < blocks * 32; ++i) {
    in[i] = random.Below(100);
    expected[i] = in[i] + (i < 32 ? 0 : expected[(i / 32 - 1) * 32 + 31 - i % 32]);
  }
  Device<int> din(in), mail(blocks * 32), flags(std::vector<int>(blocks, 0)), out(blocks * 32);
  Relay<<<blocks, 32>>>(din, mail, flags, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(9);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
