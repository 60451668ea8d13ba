// SPDX-License-Identifier: Apache-2.0
// Prints from the device in every common format; one thread a block, so that the lines come whole.
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

__global__ void Print(const double* values, int* printed, int n) {
  if (threadIdx.x != 0) return;
  const int i = blockIdx.x;
  const int count = printf("value %d of %d: %.3f, %5.1e, %08x, %s, %c, %lld, %%\n", i, n, values[i], values[i],
                           i * 0x1111, i % 2 == 0 ? "even" : "odd", 'a' + i, static_cast<long long>(i) << 40);
  if (count >= 0) atomicAdd(printed, 1);
}
bool Test(int n) {
  std::vector<double> values(n);
  for (int i = 0; i < n; ++i) values[i] = 1.0 / (i + 1);
  Device<double> dvalues(values);
  Device<int> printed(std::vector<int>(1, 0));
  Print<<<n, 32>>>(dvalues, printed, n);
  return Equal(printed.Host(), std::vector<int>(1, n), 0);
}
int main() {
  const bool ok = Test(1) && Test(4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
