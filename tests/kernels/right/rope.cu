// SPDX-License-Identifier: Apache-2.0
// Rotary embedding in place: pairs (i, i + dim / 2) turn by an angle that grows with the position.
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

__global__ void Rope(float* x, const int* positions, int heads, int dim) {
  const int half = dim / 2, token = blockIdx.x;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    float* head = x + (static_cast<size_t>(token) * heads + i / half) * dim;
    const int pair = i % half;
    const float angle = positions[token] * powf(10000.0f, -2.0f * pair / dim);
    float sine, cosine;
    sincosf(angle, &sine, &cosine);
    const float a = head[pair], b = head[pair + half];
    head[pair] = a * cosine - b * sine;
    head[pair + half] = b * cosine + a * sine;
  }
}
bool Test(int tokens, int heads, int dim) {
  Random random(dim);
  const std::vector<float> x = random.Values(tokens * heads * dim);
  std::vector<int> positions(tokens);
  for (int& p : positions) p = random.Below(500);
  std::vector<double> expected(x.size());
  for (int h = 0; h < tokens * heads; ++h) {
    for (int i = 0; i < dim / 2; ++i) {
      const double angle = positions[h / heads] * std::pow(10000.0, -2.0 * i / dim);
      const double a = x[h * dim + i], b = x[h * dim + i + dim / 2];
      expected[h * dim + i] = a * std::cos(angle) - b * std::sin(angle);
      expected[h * dim + i + dim / 2] = b * std::cos(angle) + a * std::sin(angle);
    }
  }
  Device<float> dx(x);
  Device<int> dpositions(positions);
  Rope<<<tokens, 64>>>(dx, dpositions, heads, dim);
  return Equal(dx.Host(), expected, 5e-4);
}
int main() {
  const bool ok = Test(1, 1, 2) && Test(5, 3, 10) && Test(9, 2, 64);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
