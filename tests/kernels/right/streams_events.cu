// SPDX-License-Identifier: Apache-2.0
// Two streams with kernels and asynchronous copies; an event makes one wait for the other.
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

__global__ void AddTo(const float* in, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += factor * in[i];
}
bool Test(int n) {
  Random random(n);
  const std::vector<float> a = random.Values(n), b = random.Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = (a[i] + 2.0 * b[i]) * 4.0;
  Device<float> da(n), db(n);
  cudaStream_t first, second;
  cudaEvent_t copied, added;
  CHECK(cudaStreamCreate(&first));
  CHECK(cudaStreamCreate(&second));
  CHECK(cudaEventCreate(&copied));
  CHECK(cudaEventCreate(&added));
  CHECK(cudaMemcpyAsync(da, a.data(), n * sizeof(float), cudaMemcpyHostToDevice, first));
  CHECK(cudaMemcpyAsync(db, b.data(), n * sizeof(float), cudaMemcpyHostToDevice, second));
  CHECK(cudaEventRecord(copied, second));
  CHECK(cudaStreamWaitEvent(first, copied));
  AddTo<<<(n + 63) / 64, 64, 0, first>>>(db, da, 2.0f, n);
  CHECK(cudaEventRecord(added, first));
  CHECK(cudaStreamWaitEvent(second, added));
  AddTo<<<(n + 63) / 64, 64, 0, second>>>(da, da, 3.0f, n);
  std::vector<float> got(n);
  CHECK(cudaMemcpyAsync(got.data(), da, n * sizeof(float), cudaMemcpyDeviceToHost, second));
  CHECK(cudaStreamSynchronize(second));
  float milliseconds = -1;
  CHECK(cudaEventElapsedTime(&milliseconds, copied, added));
  CHECK(cudaEventDestroy(copied));
  CHECK(cudaEventDestroy(added));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
  return milliseconds >= 0 && Equal(got, expected, 1e-6);
}
int main() {
  const bool ok = Test(1) && Test(100) && Test(2000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
