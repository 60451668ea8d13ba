// SPDX-License-Identifier: Apache-2.0
// Rows of a table by index, with 64-bit offsets, and the gradient scattered back by atomics.
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

__global__ void Gather(const float* table, const int64_t* ids, float* out, int dim) {
  const int64_t row = ids[blockIdx.x];
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    out[static_cast<int64_t>(blockIdx.x) * dim + i] = row < 0 ? 0 : table[row * dim + i];
}
__global__ void Scatter(const float* gradient, const int64_t* ids, float* table, int dim) {
  const int64_t row = ids[blockIdx.x];
  if (row < 0) return;
  for (int i = threadIdx.x; i < dim; i += blockDim.x)
    atomicAdd(&table[row * dim + i], gradient[static_cast<int64_t>(blockIdx.x) * dim + i]);
}
bool Test(int rows, int dim, int count) {
  Random random(rows);
  const std::vector<float> table = random.Values(rows * dim);
  std::vector<int64_t> ids(count);
  std::vector<double> gathered(count * dim), sums(rows * dim);
  for (int i = 0; i < count; ++i) {
    ids[i] = i % 5 == 4 ? -1 : random.Below(rows);
    for (int d = 0; d < dim && ids[i] >= 0; ++d) {
      gathered[i * dim + d] = table[ids[i] * dim + d];
      sums[ids[i] * dim + d] += table[ids[i] * dim + d];
    }
  }
  Device<float> dtable(table), out(count * dim), back(std::vector<float>(rows * dim, 0.0f));
  Device<int64_t> dids(ids);
  Gather<<<count, 64>>>(dtable, dids, out, dim);
  Scatter<<<count, 64>>>(out, dids, back, dim);
  return Equal(out.Host(), gathered, 0) && Equal(back.Host(), sums, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(10, 65, 12) && Test(100, 32, 60);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
