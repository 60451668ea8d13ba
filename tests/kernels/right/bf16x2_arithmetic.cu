// SPDX-License-Identifier: Apache-2.0
// Sums, products, maxima of pairs of bfloat16, converted from and to float.
#include <cuda_bf16.h>
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

// out = max(a * b, a + b), by pairs; n is even.
__global__ void Combine(const __nv_bfloat162* a, const __nv_bfloat162* b, float2* out, int pairs) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const __nv_bfloat162 product = __hmul2(a[i], b[i]), sum = __hadd2(a[i], b[i]);
  out[i] = __bfloat1622float2(__hmax2(product, sum));
}
bool Test(int pairs) {
  Random random(pairs);
  std::vector<__nv_bfloat162> a(pairs), b(pairs);
  std::vector<double> expected(2 * pairs);
  for (int i = 0; i < pairs; ++i) {
    a[i] = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
    b[i] = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
    const float x[] = {__bfloat162float(a[i].x), __bfloat162float(a[i].y)};
    const float y[] = {__bfloat162float(b[i].x), __bfloat162float(b[i].y)};
    for (int j = 0; j < 2; ++j) expected[2 * i + j] = std::fmax(double(x[j]) * y[j], double(x[j]) + y[j]);
  }
  Device<__nv_bfloat162> da(a), db(b);
  Device<float2> out(pairs);
  Combine<<<(pairs + 63) / 64, 64>>>(da, db, out, pairs);
  const std::vector<float2> got = out.Host();
  std::vector<float> values(2 * pairs);
  for (int i = 0; i < pairs; ++i) values[2 * i] = got[i].x, values[2 * i + 1] = got[i].y;
  return Equal(values, expected, 4e-3);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(700);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
