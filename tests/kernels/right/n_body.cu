// SPDX-License-Identifier: Apache-2.0
// Accelerations of bodies under each other's gravity, by tiles of 64 in shared memory.
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

__global__ void Accelerate(const float4* bodies, float3* out, int n) {
  __shared__ float4 tile[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  const float4 own = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 sum = make_float3(0, 0, 0);
  for (int first = 0; first < n; first += 64) {
    tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
    for (int j = 0; j < 64; ++j) {
      const float4 other = tile[j];
      const float x = other.x - own.x, y = other.y - own.y, z = other.z - own.z;
      const float inverse = rsqrtf(x * x + y * y + z * z + 0.01f), weight = other.w * inverse * inverse * inverse;
      sum.x += x * weight;
      sum.y += y * weight;
      sum.z += z * weight;
    }
    __syncthreads();
  }
  if (i < n) out[i] = sum;
}
bool Test(int n) {
  Random random(n);
  std::vector<float4> bodies(n);
  for (float4& b : bodies)
    b = make_float4(random.Uniform(), random.Uniform(), random.Uniform(), random.Uniform() + 1.5f);
  std::vector<double> expected, got;
  for (const float4& a : bodies) {
    double sum[3] = {};
    for (const float4& b : bodies) {
      const double d[3] = {double(b.x) - a.x, double(b.y) - a.y, double(b.z) - a.z};
      const double weight = b.w / std::pow(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01, 1.5);
      for (int k = 0; k < 3; ++k) sum[k] += d[k] * weight;
    }
    expected.insert(expected.end(), sum, sum + 3);
  }
  Device<float4> dbodies(bodies);
  Device<float3> out(n);
  Accelerate<<<(n + 63) / 64, 64>>>(dbodies, out, n);
  for (const float3& v : out.Host()) got.insert(got.end(), {v.x, v.y, v.z});
  return Equal(got, expected, 2e-4);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
