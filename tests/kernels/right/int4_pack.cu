// SPDX-License-Identifier: Apache-2.0
// Weights of four bits, eight in a word, with a scale for each 32: packed, then multiplied with a vector.
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

__global__ void Pack(const signed char* in, unsigned* out, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  unsigned word = 0;
  for (int j = 0; j < 8; ++j) word |= (static_cast<unsigned>(in[8 * i + j]) & 15u) << (4 * j);
  out[i] = word;
}
__global__ void Multiply(const unsigned* weights, const float* scales, const float* x, float* y, int cols) {
  const int row = blockIdx.x, lane = threadIdx.x, words = cols / 8;
  float sum = 0;
  for (int i = lane; i < words; i += 32) {
    const unsigned word = weights[row * words + i];
    float part = 0;
    for (int j = 0; j < 8; ++j) part += (static_cast<int>(word << (28 - 4 * j)) >> 28) * x[8 * i + j];
    sum += part * scales[(row * words + i) / 4];
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (lane == 0) y[row] = sum;
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<signed char> w(rows * cols);
  for (signed char& v : w) v = static_cast<signed char>(random.Below(16) - 8);
  const std::vector<float> scales = random.Values(rows * cols / 32), x = random.Values(cols);
  std::vector<double> expected(rows);
  for (int i = 0; i < rows * cols; ++i) expected[i / cols] += double(w[i]) * scales[i / 32] * x[i % cols];
  Device<signed char> dw(w);
  Device<unsigned> packed(rows * cols / 8);
  Device<float> dscales(scales), dx(x), y(rows);
  Pack<<<(rows * cols / 8 + 63) / 64, 64>>>(dw, packed, rows * cols / 8);
  Multiply<<<rows, 32>>>(packed, dscales, dx, y, cols);
  return Equal(y.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 32) && Test(3, 96) && Test(5, 1024);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
