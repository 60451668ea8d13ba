// SPDX-License-Identifier: Apache-2.0
// Floats to e4m3 and back: each must come out as one of the nearest of the format's values.
#include <cuda_fp8.h>
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

__global__ void RoundTrip(const float* in, unsigned char* codes, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const __nv_fp8_e4m3 q(in[i]);
  codes[i] = q.__x;
  out[i] = static_cast<float>(q);
}
double Decode(int code) {
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const double magnitude =
      exponent == 0 ? mantissa / 8.0 * std::pow(2, -6) : (1 + mantissa / 8.0) * std::pow(2, exponent - 7);
  return code & 128 ? -magnitude : magnitude;
}
bool Test(int n) {
  std::vector<float> in = Random(n).Values(n);
  for (int i = 0; i < n; ++i) in[i] *= i % 3 == 0 ? 440.0f : i % 3 == 1 ? 1.0f : 0.01f;
  Device<float> din(in), out(n);
  Device<unsigned char> codes(n);
  RoundTrip<<<(n + 63) / 64, 64>>>(din, codes, out, n);
  const std::vector<float> got = out.Host();
  const std::vector<unsigned char> code = codes.Host();
  std::vector<double> decoded(n), distance(n), nearest(n, INFINITY);
  for (int i = 0; i < n; ++i) {
    decoded[i] = Decode(code[i]);
    distance[i] = std::fabs(in[i] - decoded[i]);
    for (int c = 0; c < 256; ++c)
      if ((c & 127) != 127) nearest[i] = std::fmin(nearest[i], std::fabs(in[i] - Decode(c)));
  }
  return Equal(got, decoded, 0) && Equal(distance, nearest, 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(900);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
