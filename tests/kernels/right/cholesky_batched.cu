// SPDX-License-Identifier: Apache-2.0
// Factors many small positive definite matrices, a warp each, in shared memory.
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

constexpr int kSize = 12;
__global__ void Cholesky(const float* in, float* out, int count) {
  __shared__ float all[4][kSize][kSize + 1];
  const int lane = threadIdx.x, which = blockIdx.x * 4 + threadIdx.y;
  if (which >= count) return;
  float(*m)[kSize + 1] = all[threadIdx.y];
  for (int i = lane; i < kSize * kSize; i += 32) m[i / kSize][i % kSize] = in[which * kSize * kSize + i];
  __syncwarp();
  for (int k = 0; k < kSize; ++k) {
    const float pivot = sqrtf(m[k][k]);
    __syncwarp();
    if (lane == k) m[k][k] = pivot;
    if (lane > k && lane < kSize) m[lane][k] /= pivot;
    __syncwarp();
    for (int i = lane; i < kSize * kSize; i += 32) {
      const int r = i / kSize, c = i % kSize;
      if (c > k && r >= c) m[r][c] -= m[r][k] * m[c][k];
    }
    __syncwarp();
  }
  for (int i = lane; i < kSize * kSize; i += 32)
    out[which * kSize * kSize + i] = i / kSize >= i % kSize ? m[i / kSize][i % kSize] : 0;
}
bool Test(int count) {
  Random random(count);
  std::vector<float> in;
  std::vector<double> expected;
  for (int b = 0; b < count; ++b) {
    const std::vector<float> g = random.Values(kSize * kSize);
    double l[kSize][kSize] = {};
    std::vector<float> a(kSize * kSize);
    for (int i = 0; i < kSize * kSize; ++i) {
      double sum = i / kSize == i % kSize ? 2 : 0;
      for (int k = 0; k < kSize; ++k) sum += double(g[i / kSize * kSize + k]) * g[i % kSize * kSize + k];
      a[i] = static_cast<float>(sum);
    }
    for (int r = 0; r < kSize; ++r)
      for (int c = 0; c <= r; ++c) {
        double sum = a[r * kSize + c];
        for (int k = 0; k < c; ++k) sum -= l[r][k] * l[c][k];
        l[r][c] = r == c ? std::sqrt(sum) : sum / l[c][c];
      }
    in.insert(in.end(), a.begin(), a.end());
    expected.insert(expected.end(), &l[0][0], &l[0][0] + kSize * kSize);
  }
  Device<float> din(in), out(in.size());
  Cholesky<<<(count + 3) / 4, dim3(32, 4)>>>(din, out, count);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1) && Test(5) && Test(20);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
