// SPDX-License-Identifier: Apache-2.0
// The four largest values of each row with their columns: four rounds of a block-wide maximum, the winner struck out.
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

__global__ void TopK(const float* in, float* values, int* indices, int cols) {
  extern __shared__ float row[];
  __shared__ float best[64];
  __shared__ int where[64];
  const int t = threadIdx.x;
  for (int i = t; i < cols; i += 64) row[i] = in[blockIdx.x * cols + i];
  __syncthreads();
  for (int k = 0; k < 4; ++k) {
    best[t] = -INFINITY;
    where[t] = cols;
    for (int i = t; i < cols; i += 64)
      if (row[i] > best[t]) best[t] = row[i], where[t] = i;
    __syncthreads();
    for (int half = 32; half > 0; half /= 2) {
      if (t < half && (best[t + half] > best[t] || (best[t + half] == best[t] && where[t + half] < where[t]))) {
        best[t] = best[t + half];
        where[t] = where[t + half];
      }
      __syncthreads();
    }
    if (t == 0) {
      values[blockIdx.x * 4 + k] = best[0];
      indices[blockIdx.x * 4 + k] = where[0];
      row[where[0]] = -INFINITY;
    }
    __syncthreads();
  }
}
bool Test(int rows, int cols) {
  const std::vector<float> in = Random(cols).Values(rows * cols);
  std::vector<float> values;
  std::vector<int> indices;
  for (int r = 0; r < rows; ++r) {
    std::vector<float> row(in.begin() + r * cols, in.begin() + (r + 1) * cols);
    for (int k = 0; k < 4; ++k) {
      const auto best = std::max_element(row.begin(), row.end());
      values.push_back(*best);
      indices.push_back(static_cast<int>(best - row.begin()));
      *best = -INFINITY;
    }
  }
  Device<float> din(in), dvalues(rows * 4);
  Device<int> dindices(rows * 4);
  TopK<<<rows, 64, cols * sizeof(float)>>>(din, dvalues, dindices, cols);
  return Equal(dvalues.Host(), values, 0) && Equal(dindices.Host(), indices, 0);
}
int main() {
  const bool ok = Test(1, 4) && Test(3, 63) && Test(2, 1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
