// SPDX-License-Identifier: Apache-2.0
// Every shuffle with every kind of width: broadcast, rotation, butterflies within 4, 8 and 16 lanes, partial masks.
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

__global__ void Shuffle(const int* in, int* out) {
  const int lane = threadIdx.x, v = in[blockIdx.x * 32 + lane];
  int* to = out + blockIdx.x * 160 + lane;
  to[0] = __shfl_sync(0xffffffff, v, (lane + 5) % 32);
  to[32] = __shfl_up_sync(0xffffffff, v, 3, 8);
  to[64] = __shfl_down_sync(0xffffffff, v, 2, 16);
  to[96] = __shfl_xor_sync(0xffffffff, v, 3, 4);
  int own = -1;
  if (lane < 16) own = __shfl_sync(0x0000ffffu, v, 15 - lane);
  to[128] = own;
}
bool Test(int warps) {
  Random random(warps);
  std::vector<int> in(warps * 32), expected(warps * 160);
  for (int& v : in) v = random.Below(1000);
  for (int w = 0; w < warps; ++w) {
    const int* v = &in[w * 32];
    int* to = &expected[w * 160];
    for (int lane = 0; lane < 32; ++lane) {
      to[lane] = v[(lane + 5) % 32];
      to[32 + lane] = lane % 8 >= 3 ? v[lane - 3] : v[lane];
      to[64 + lane] = lane % 16 + 2 < 16 ? v[lane + 2] : v[lane];
      to[96 + lane] = v[lane ^ 3];
      to[128 + lane] = lane < 16 ? v[15 - lane] : -1;
    }
  }
  Device<int> din(in), out(expected.size());
  Shuffle<<<warps, 32>>>(din, out);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(10);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
