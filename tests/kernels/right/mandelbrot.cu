// SPDX-License-Identifier: Apache-2.0
// Escape times in double precision without contraction, so that the host's counts are the same.
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

__global__ void Mandelbrot(int* out, int width, int height, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const double cr = __dadd_rn(__ddiv_rn(__dmul_rn(3.0, x), width), -2.0),
               ci = __dadd_rn(__ddiv_rn(__dmul_rn(2.0, y), height), -1.0);
  double zr = 0, zi = 0;
  int count = 0;
  while (count < limit) {
    const double rr = __dmul_rn(zr, zr), ii = __dmul_rn(zi, zi);
    if (__dadd_rn(rr, ii) > 4.0) break;
    zi = __dadd_rn(__dmul_rn(__dmul_rn(2.0, zr), zi), ci);
    zr = __dadd_rn(__dsub_rn(rr, ii), cr);
    ++count;
  }
  out[y * width + x] = count;
}
bool Test(int width, int height) {
  std::vector<int> expected(width * height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double cr = 3.0 * x / width + -2.0, ci = 2.0 * y / height + -1.0;
      double zr = 0, zi = 0;
      int count = 0;
      while (count < 64) {
        const double rr = zr * zr, ii = zi * zi;
        if (rr + ii > 4.0) break;
        zi = 2.0 * zr * zi + ci;
        zr = rr - ii + cr;
        ++count;
      }
      expected[y * width + x] = count;
    }
  Device<int> out(width * height);
  Mandelbrot<<<dim3((width + 15) / 16, (height + 3) / 4), dim3(16, 4)>>>(out, width, height, 64);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(33, 17) && Test(80, 50);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
