// SPDX-License-Identifier: Apache-2.0
// Running sums that start again wherever a flag is set, one block, by pairs (flag, sum).
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

__global__ void Scan(const float* in, const int* head, float* out, int n) {
  __shared__ float sum[256];
  __shared__ int flag[256];
  const int t = threadIdx.x;
  sum[t] = t < n ? in[t] : 0;
  flag[t] = t < n ? head[t] : 1;
  __syncthreads();
  for (int offset = 1; offset < 256; offset *= 2) {
    float s = sum[t];
    int f = flag[t];
    if (t >= offset && !f) {
      s += sum[t - offset];
      f |= flag[t - offset];
    }
    __syncthreads();
    sum[t] = s;
    flag[t] = f;
    __syncthreads();
  }
  if (t < n) out[t] = sum[t];
}
bool Test(int n) {
  Random random(n);
  const std::vector<float> in = random.Values(n);
  std::vector<int> head(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) {
    head[i] = i == 0 || random.Below(7) == 0;
    expected[i] = in[i] + (head[i] ? 0 : expected[i - 1]);
  }
  Device<float> din(in), out(n);
  Device<int> dhead(head);
  Scan<<<1, 256>>>(din, dhead, out, n);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(255) && Test(256);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
