// SPDX-License-Identifier: Apache-2.0
// 5 x 5 convolution of several channels into one, filters in constant memory, padded with zeros.
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

__constant__ float filters[8 * 25];
__global__ void Convolve(const float* in, float* out, int channels, int rows, int cols) {
  __shared__ float tile[20][20];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int c = 0; c < channels; ++c) {
    for (int i = y * 16 + x; i < 400; i += 256) {
      const int r = static_cast<int>(blockIdx.y) * 16 + i / 20 - 2, s = static_cast<int>(blockIdx.x) * 16 + i % 20 - 2;
      tile[i / 20][i % 20] = r >= 0 && r < rows && s >= 0 && s < cols ? in[(c * rows + r) * cols + s] : 0;
    }
    __syncthreads();
    for (int i = 0; i < 25; ++i) sum += tile[y + i / 5][x + i % 5] * filters[c * 25 + i];
    __syncthreads();
  }
  if (row < rows && col < cols) out[row * cols + col] = sum;
}
bool Test(int channels, int rows, int cols) {
  Random random(rows);
  const std::vector<float> in = random.Values(channels * rows * cols), f = random.Values(channels * 25);
  std::vector<double> expected(rows * cols);
  for (int r = 0; r < rows; ++r)
    for (int s = 0; s < cols; ++s)
      for (int c = 0; c < channels; ++c)
        for (int i = 0; i < 25; ++i) {
          const int y = r + i / 5 - 2, x = s + i % 5 - 2;
          if (y >= 0 && y < rows && x >= 0 && x < cols)
            expected[r * cols + s] += double(in[(c * rows + y) * cols + x]) * f[c * 25 + i];
        }
  CHECK(cudaMemcpyToSymbol(filters, f.data(), f.size() * sizeof(float)));
  Device<float> din(in), out(rows * cols);
  Convolve<<<dim3((cols + 15) / 16, (rows + 15) / 16), dim3(16, 16)>>>(din, out, channels, rows, cols);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(3, 17, 30) && Test(8, 33, 16);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
