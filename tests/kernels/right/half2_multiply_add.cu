// SPDX-License-Identifier: Apache-2.0
// c = a b + c in half precision, two elements an instruction, with a single last element at odd sizes.
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

__global__ void MultiplyAdd(const __half* a, const __half* b, __half* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 2) {
    const __half2 x = reinterpret_cast<const __half2*>(a)[i], y = reinterpret_cast<const __half2*>(b)[i];
    reinterpret_cast<__half2*>(c)[i] = __hfma2(x, y, reinterpret_cast<__half2*>(c)[i]);
  }
  if (i == 0 && n % 2 == 1) c[n - 1] = __hfma(a[n - 1], b[n - 1], c[n - 1]);
}
bool Test(int n) {
  Random random(n);
  std::vector<__half> a(n), b(n), c(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) {
    a[i] = __float2half(random.Uniform());
    b[i] = __float2half(random.Uniform());
    c[i] = __float2half(random.Uniform());
    expected[i] = double(__half2float(a[i])) * __half2float(b[i]) + __half2float(c[i]);
  }
  Device<__half> da(a), db(b), dc(c);
  MultiplyAdd<<<n / 256 + 1, 128>>>(da, db, dc, n);
  const std::vector<__half> got = dc.Host();
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = __half2float(got[i]);
  return Equal(values, expected, 1e-3);
}
int main() {
  const bool ok = Test(1) && Test(2) && Test(257) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
