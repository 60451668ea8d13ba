// SPDX-License-Identifier: Apache-2.0
// Layer norm of rows with Welford's means and variances, merged across the block.
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

struct Moments {
  float count, mean, m2;
};
__device__ Moments Merge(Moments a, Moments b) {
  const float count = a.count + b.count;
  if (count == 0) return a;
  const float delta = b.mean - a.mean;
  return {count, a.mean + delta * b.count / count, a.m2 + b.m2 + delta * delta * a.count * b.count / count};
}
__global__ void LayerNorm(const float* in, const float* gamma, const float* beta, float* out, int cols, float epsilon) {
  __shared__ Moments all[64];
  in += static_cast<size_t>(blockIdx.x) * cols;
  out += static_cast<size_t>(blockIdx.x) * cols;
  Moments own = {0, 0, 0};
  for (int i = threadIdx.x; i < cols; i += 64) own = Merge(own, {1, in[i], 0});
  all[threadIdx.x] = own;
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) all[threadIdx.x] = Merge(all[threadIdx.x], all[threadIdx.x + half]);
    __syncthreads();
  }
  const float mean = all[0].mean, scale = rsqrtf(all[0].m2 / cols + epsilon);
  for (int i = threadIdx.x; i < cols; i += 64) out[i] = (in[i] - mean) * scale * gamma[i] + beta[i];
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<float> in = random.Values(rows * cols);
  const std::vector<float> gamma = random.Values(cols), beta = random.Values(cols);
  for (float& v : in) v = v * 3 + 100;  // far from zero, where sums of squares lose everything
  std::vector<double> expected(in.size());
  for (int r = 0; r < rows; ++r) {
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += double(in[r * cols + c]) / cols;
    for (int c = 0; c < cols; ++c) variance += (in[r * cols + c] - mean) * (in[r * cols + c] - mean) / cols;
    for (int c = 0; c < cols; ++c)
      expected[r * cols + c] = (in[r * cols + c] - mean) / std::sqrt(variance + 1e-5) * gamma[c] + beta[c];
  }
  Device<float> din(in), dgamma(gamma), dbeta(beta), out(in.size());
  LayerNorm<<<rows, 64>>>(din, dgamma, dbeta, out, cols, 1e-5f);
  return Equal(out.Host(), expected, 1e-3);
}
int main() {
  const bool ok = Test(2, 2) && Test(3, 65) && Test(4, 777);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
