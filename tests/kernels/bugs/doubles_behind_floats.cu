// SPDX-License-Identifier: Apache-2.0
// bug: kind=misaligned line=49 words=the doubles start behind an odd number of floats
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

__global__ void Fill(float* memory, int floats, int doubles) {
  double* rest = reinterpret_cast<double*>(memory + floats);
  if (threadIdx.x < floats) memory[threadIdx.x] = 1;
  if (threadIdx.x < doubles) rest[threadIdx.x] = 2;
}
int main() {
  Device<float> memory(33 + 2 * 20 + 1);
  Fill<<<1, 64>>>(memory, 33, 20);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  std::printf("ok\n");
  return 0;
}
