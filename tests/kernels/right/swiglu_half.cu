// SPDX-License-Identifier: Apache-2.0
// silu(gate) * up in half precision, eight values a load of 16 bytes.
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

struct __align__(16) Eight {
  __half2 v[4];
};
__global__ void Swiglu(const Eight* gate, const Eight* up, Eight* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Eight g = gate[i], u = up[i];
  Eight result;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    const float2 a = __half22float2(g.v[j]), b = __half22float2(u.v[j]);
    result.v[j] = __floats2half2_rn(a.x / (1 + __expf(-a.x)) * b.x, a.y / (1 + __expf(-a.y)) * b.y);
  }
  out[i] = result;
}
bool Test(int n) {
  Random random(n);
  std::vector<Eight> gate(n), up(n);
  std::vector<double> expected, got;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < 4; ++j) {
      const __half2 g = __floats2half2_rn(random.Uniform() * 6, random.Uniform() * 6),
                    u = __floats2half2_rn(random.Uniform(), random.Uniform());
      gate[i].v[j] = g;
      up[i].v[j] = u;
      const double a = __half2float(g.x), b = __half2float(g.y);
      expected.push_back(a / (1 + std::exp(-a)) * __half2float(u.x));
      expected.push_back(b / (1 + std::exp(-b)) * __half2float(u.y));
    }
  }
  Device<Eight> dgate(gate), dup(up), out(n);
  Swiglu<<<(n + 63) / 64, 64>>>(dgate, dup, out, n);
  for (const Eight& e : out.Host())
    for (const __half2& h : e.v) got.push_back(__half2float(h.x)), got.push_back(__half2float(h.y));
  return Equal(got, expected, 2e-3);
}
int main() {
  const bool ok = Test(1) && Test(63) && Test(300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
