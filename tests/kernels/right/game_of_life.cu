// SPDX-License-Identifier: Apache-2.0
// Generations on a torus, from buffer to buffer.
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

__global__ void Step(const unsigned char* in, unsigned char* out, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  int neighbours = 0;
  for (int dr = -1; dr <= 1; ++dr)
    for (int dc = -1; dc <= 1; ++dc)
      if (dr != 0 || dc != 0) neighbours += in[(r + dr + rows) % rows * cols + (c + dc + cols) % cols];
  out[r * cols + c] = neighbours == 3 || (neighbours == 2 && in[r * cols + c]);
}
bool Test(int rows, int cols, int generations) {
  Random random(rows * cols);
  std::vector<unsigned char> cells(rows * cols);
  for (unsigned char& cell : cells) cell = static_cast<unsigned char>(random.Below(2));
  Device<unsigned char> a(cells), b(cells.size());
  unsigned char *from = a, *to = b;
  for (int g = 0; g < generations; ++g) {
    Step<<<dim3((cols + 7) / 8, (rows + 7) / 8), dim3(8, 8)>>>(from, to, rows, cols);
    std::swap(from, to);
    const std::vector<unsigned char> old = cells;
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        int sum = -old[r * cols + c];
        for (int i = 0; i < 9; ++i) sum += old[(r + i / 3 + rows - 1) % rows * cols + (c + i % 3 + cols - 1) % cols];
        cells[r * cols + c] = sum == 3 || (sum == 2 && old[r * cols + c]);
      }
  }
  return Equal((generations % 2 == 0 ? a : b).Host(), cells, 0);
}
int main() {
  const bool ok = Test(1, 1, 2) && Test(9, 17, 5) && Test(40, 33, 6);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
