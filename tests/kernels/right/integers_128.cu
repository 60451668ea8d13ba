// SPDX-License-Identifier: Apache-2.0
// Division, remainder, products and shifts of 128 bits, with and without a sign.
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

using Wide = unsigned __int128;
using SignedWide = __int128;

__host__ __device__ void Results(Wide x, Wide y, Wide* to) {
  to[0] = x / y;
  to[1] = x % y;
  to[2] = x / 7;
  to[3] = static_cast<Wide>(static_cast<SignedWide>(x) / static_cast<SignedWide>(y));
  to[4] = x * y;
  to[5] = x - y;
  to[6] = x >> static_cast<int>(y % 128);
  to[7] = x << static_cast<int>(y % 100);
}

__global__ void Compute(const uint64_t* in, uint64_t* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint64_t* from = in + 4 * i;
  Wide results[8];
  Results(static_cast<Wide>(from[1]) << 64 | from[0], static_cast<Wide>(from[3]) << 64 | from[2], results);
  for (int j = 0; j < 8; ++j) {
    out[16 * i + 2 * j] = static_cast<uint64_t>(results[j]);
    out[16 * i + 2 * j + 1] = static_cast<uint64_t>(results[j] >> 64);
  }
}

bool Test(int n) {
  Random random(n);
  std::vector<uint64_t> in(4 * n);
  for (int i = 0; i < n; ++i) {
    // Divisors of one word and of two.
    for (int j = 0; j < 4; ++j)
      in[4 * i + j] = (static_cast<uint64_t>(random.Bits()) << 32 | random.Bits()) >> random.Below(60);
    if (i % 2 == 0) in[4 * i + 3] = 0;
    in[4 * i + 2] |= 2;
  }
  Device<uint64_t> device(in), out(16 * n);
  Compute<<<(n + 31) / 32, 32>>>(device, out, n);
  const std::vector<uint64_t> got = out.Host();
  for (int i = 0; i < n; ++i) {
    Wide expected[8];
    const uint64_t* from = in.data() + 4 * i;
    Results(static_cast<Wide>(from[1]) << 64 | from[0], static_cast<Wide>(from[3]) << 64 | from[2], expected);
    for (int j = 0; j < 8; ++j) {
      const Wide value = static_cast<Wide>(got[16 * i + 2 * j + 1]) << 64 | got[16 * i + 2 * j];
      if (value == expected[j]) continue;
      std::printf("result %d of number %d is wrong\n", j, i);
      return false;
    }
  }
  return true;
}
int main() {
  const bool ok = Test(1) && Test(33) && Test(500);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
