// SPDX-License-Identifier: Apache-2.0
// Sum, minimum, maximum and bitwise or of integers by redux.sync, which adds up a whole warp at once.
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

struct Totals {
  int sum, lowest, highest;
  unsigned bits;
};
__global__ void Reduce(const int* in, Totals* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int v = in[i < n ? i : n - 1];
  const int sum = __reduce_add_sync(0xffffffff, i < n ? v : 0);
  const int lowest = __reduce_min_sync(0xffffffff, v), highest = __reduce_max_sync(0xffffffff, v);
  const unsigned bits = __reduce_or_sync(0xffffffff, static_cast<unsigned>(v));
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&out->sum, sum);
    atomicMin(&out->lowest, lowest);
    atomicMax(&out->highest, highest);
    atomicOr(&out->bits, bits);
  }
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n);
  Totals expected = {0, 1 << 30, -(1 << 30), 0};
  for (int& v : in) {
    v = random.Below(2000) - 1000;
    expected.sum += v;
    expected.lowest = v < expected.lowest ? v : expected.lowest;
    expected.highest = v > expected.highest ? v : expected.highest;
    expected.bits |= static_cast<unsigned>(v);
  }
  Device<int> din(in);
  Device<Totals> out(std::vector<Totals>(1, {0, 1 << 30, -(1 << 30), 0}));
  Reduce<<<(n + 127) / 128, 128>>>(din, out, n);
  const Totals got = out.Host()[0];
  return Equal(std::vector<double>{double(got.sum), double(got.lowest), double(got.highest), double(got.bits)},
               std::vector<double>{double(expected.sum), double(expected.lowest), double(expected.highest),
                                   double(expected.bits)},
               0);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(5000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
