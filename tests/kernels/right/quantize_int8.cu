// SPDX-License-Identifier: Apache-2.0
// Rows to bytes with a scale of their own, and back.
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

__global__ void Quantize(const float* in, signed char* out, float* scales, int cols) {
  const int row = blockIdx.x, lane = threadIdx.x;
  float largest = 0;
  for (int i = lane; i < cols; i += 32) largest = fmaxf(largest, fabsf(in[row * cols + i]));
  for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
  const float scale = largest > 0 ? largest / 127 : 1;
  for (int i = lane; i < cols; i += 32) {
    const int q = __float2int_rn(in[row * cols + i] / scale);
    out[row * cols + i] = static_cast<signed char>(max(-127, min(127, q)));
  }
  if (lane == 0) scales[row] = scale;
}
__global__ void Dequantize(const signed char* in, const float* scales, float* out, int cols) {
  const int row = blockIdx.x;
  for (int i = threadIdx.x; i < cols; i += blockDim.x) out[row * cols + i] = in[row * cols + i] * scales[row];
}
bool Test(int rows, int cols) {
  std::vector<float> in = Random(cols).Values(rows * cols);
  for (int c = 0; c < cols; ++c) in[c] = 0;  // a row of zeros
  std::vector<int> expected(in.size());
  std::vector<double> back(in.size());
  for (int r = 0; r < rows; ++r) {
    float largest = 0;
    for (int c = 0; c < cols; ++c) largest = std::fmax(largest, std::fabs(in[r * cols + c]));
    const float scale = largest > 0 ? largest / 127 : 1;
    for (int c = 0; c < cols; ++c) {
      expected[r * cols + c] = static_cast<int>(std::nearbyint(in[r * cols + c] / scale));
      back[r * cols + c] = expected[r * cols + c] * double(scale);
    }
  }
  Device<float> din(in), scales(rows), out(in.size());
  Device<signed char> q(in.size());
  Quantize<<<rows, 32>>>(din, q, scales, cols);
  Dequantize<<<rows, 64>>>(q, scales, out, cols);
  return Equal(q.Host(), expected, 0) && Equal(out.Host(), back, 1e-6);
}
int main() {
  const bool ok = Test(1, 1) && Test(4, 33) && Test(6, 300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
