// SPDX-License-Identifier: Apache-2.0
// Causal attention in one pass: keys and values come in tiles of 32, each thread keeps one query's running maximum, sum
// and output.
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

constexpr int kDim = 16;
__global__ void Attention(const float* q, const float* k, const float* v, float* out, int tokens) {
  __shared__ float ks[32][kDim], vs[32][kDim];
  const int query = blockIdx.x * 32 + threadIdx.x;
  float own[kDim], value[kDim] = {};
#pragma unroll
  for (int i = 0; i < kDim; ++i) own[i] = query < tokens ? q[query * kDim + i] * 0.25f : 0;
  float largest = -INFINITY, sum = 0;
  for (int first = 0; first <= blockIdx.x * 32; first += 32) {
    for (int i = threadIdx.x; i < 32 * kDim; i += 32) {
      const bool inside = first + i / kDim < tokens;
      ks[i / kDim][i % kDim] = inside ? k[first * kDim + i] : 0;
      vs[i / kDim][i % kDim] = inside ? v[first * kDim + i] : 0;
    }
    __syncthreads();
    for (int j = 0; j < 32 && first + j <= query; ++j) {
      float dot = 0;
#pragma unroll
      for (int i = 0; i < kDim; ++i) dot += own[i] * ks[j][i];
      const float next = fmaxf(largest, dot), factor = expf(largest - next), weight = expf(dot - next);
      sum = sum * factor + weight;
#pragma unroll
      for (int i = 0; i < kDim; ++i) value[i] = value[i] * factor + weight * vs[j][i];
      largest = next;
    }
    __syncthreads();
  }
  if (query >= tokens) return;
#pragma unroll
  for (int i = 0; i < kDim; ++i) out[query * kDim + i] = value[i] / sum;
}
bool Test(int tokens, int dim) {
  Random random(tokens);
  const std::vector<float> q = random.Values(tokens * dim), k = random.Values(tokens * dim),
                           v = random.Values(tokens * dim);
  std::vector<double> expected(tokens * dim);
  for (int i = 0; i < tokens; ++i) {
    std::vector<double> weights(i + 1);
    double sum = 0;
    for (int j = 0; j <= i; ++j) {
      double dot = 0;
      for (int d = 0; d < dim; ++d) dot += double(q[i * dim + d]) * k[j * dim + d];
      sum += weights[j] = std::exp(dot / std::sqrt(double(dim)));
    }
    for (int j = 0; j <= i; ++j)
      for (int d = 0; d < dim; ++d) expected[i * dim + d] += weights[j] / sum * v[j * dim + d];
  }
  Device<float> dq(q), dk(k), dv(v), out(tokens * dim);
  Attention<<<(tokens + 31) / 32, 32>>>(dq, dk, dv, out, tokens);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, kDim) && Test(32, kDim) && Test(77, kDim);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
