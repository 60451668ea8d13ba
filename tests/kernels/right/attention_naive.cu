// SPDX-License-Identifier: Apache-2.0
// Scaled dot-product attention with causal mask, a block a query, the scores in dynamic shared memory.
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

__global__ void Attention(const float* q, const float* k, const float* v, float* out, int dim) {
  extern __shared__ float scores[];
  const int query = blockIdx.x, count = query + 1, t = threadIdx.x;
  for (int j = t; j < count; j += blockDim.x) {
    float dot = 0;
    for (int i = 0; i < dim; ++i) dot += q[query * dim + i] * k[j * dim + i];
    scores[j] = dot * rsqrtf(static_cast<float>(dim));
  }
  __syncthreads();
  float largest = -INFINITY;
  for (int j = 0; j < count; ++j) largest = fmaxf(largest, scores[j]);
  float sum = 0;
  for (int j = 0; j < count; ++j) sum += expf(scores[j] - largest);
  for (int i = t; i < dim; i += blockDim.x) {
    float value = 0;
    for (int j = 0; j < count; ++j) value += expf(scores[j] - largest) * v[j * dim + i];
    out[query * dim + i] = value / sum;
  }
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
  Attention<<<tokens, 32, tokens * sizeof(float)>>>(dq, dk, dv, out, dim);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 3) && Test(7, 20) && Test(50, 33);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
