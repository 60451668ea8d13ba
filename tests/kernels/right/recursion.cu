// SPDX-License-Identifier: Apache-2.0
// Binomial coefficients by recursion, each thread to a depth of its own.
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

__device__ __noinline__ int Binomial(int n, int k) {
  return k == 0 || k == n ? 1 : Binomial(n - 1, k - 1) + Binomial(n - 1, k);
}
__global__ void Triangle(int* out, int rows) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = i / rows, col = i % rows;
  if (row < rows) out[i] = col <= row ? Binomial(row, col) : 0;
}
bool Test(int rows) {
  std::vector<int> expected(rows * rows);
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c <= r; ++c)
      expected[r * rows + c] = c == 0 || c == r ? 1 : expected[(r - 1) * rows + c - 1] + expected[(r - 1) * rows + c];
  Device<int> out(rows * rows);
  Triangle<<<(rows * rows + 31) / 32, 32>>>(out, rows);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(5) && Test(12);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
