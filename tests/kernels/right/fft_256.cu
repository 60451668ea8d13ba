// SPDX-License-Identifier: Apache-2.0
// Transforms of 256 complex values, radix 2, after reordering by reversed bits, in shared memory.
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

__global__ void Fft(const float2* in, float2* out) {
  __shared__ float2 x[256];
  const int t = threadIdx.x;
  in += blockIdx.x * 256;
  out += blockIdx.x * 256;
  for (int i = t; i < 256; i += 128) x[__brev(i) >> 24] = in[i];
  __syncthreads();
  for (int half = 1; half < 256; half *= 2) {
    const int k = t % half, i = t / half * 2 * half + k;
    float sine, cosine;
    sincospif(-static_cast<float>(k) / half, &sine, &cosine);
    const float2 a = x[i], b = x[i + half];
    const float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    x[i] = make_float2(a.x + turned.x, a.y + turned.y);
    x[i + half] = make_float2(a.x - turned.x, a.y - turned.y);
    __syncthreads();
  }
  for (int i = t; i < 256; i += 128) out[i] = x[i];
}
bool Test(int count) {
  Random random(count);
  std::vector<float2> in(count * 256);
  for (float2& v : in) v = make_float2(random.Uniform(), random.Uniform());
  std::vector<double> expected, got;
  for (int b = 0; b < count; ++b)
    for (int k = 0; k < 256; ++k) {
      double re = 0, im = 0;
      for (int i = 0; i < 256; ++i) {
        const double angle = -2 * 3.14159265358979323846 * (k * i % 256) / 256, c = std::cos(angle),
                     s = std::sin(angle);
        re += in[b * 256 + i].x * c - in[b * 256 + i].y * s;
        im += in[b * 256 + i].x * s + in[b * 256 + i].y * c;
      }
      expected.push_back(re);
      expected.push_back(im);
    }
  Device<float2> din(in), out(in.size());
  Fft<<<count, 128>>>(din, out);
  for (const float2& v : out.Host()) got.push_back(v.x), got.push_back(v.y);
  return Equal(got, expected, 1e-4);
}
int main() {
  const bool ok = Test(1) && Test(5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
