// SPDX-License-Identifier: Apache-2.0
// Seven-point Laplacian: a thread walks through the planes and keeps three of them in registers.
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

__global__ void Laplace(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float plane[10][18];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, t = threadIdx.y * 16 + threadIdx.x;
  const bool inside = x < nx && y < ny;
  auto at = [&](int i, int j, int k) {
    return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz ? in[(k * ny + j) * nx + i] : 0.0f;
  };
  float below = 0, here = at(x, y, 0);
  for (int z = 0; z < nz; ++z) {
    const float above = at(x, y, z + 1);
    for (int i = t; i < 180; i += 128)
      plane[i / 18][i % 18] = at(blockIdx.x * 16 + i % 18 - 1, blockIdx.y * 8 + i / 18 - 1, z);
    __syncthreads();
    const int i = threadIdx.x + 1, j = threadIdx.y + 1;
    if (inside)
      out[(z * ny + y) * nx + x] =
          plane[j][i - 1] + plane[j][i + 1] + plane[j - 1][i] + plane[j + 1][i] + below + above - 6 * here;
    __syncthreads();
    below = here;
    here = above;
  }
}
bool Test(int nx, int ny, int nz) {
  const std::vector<float> in = Random(nx).Values(nx * ny * nz);
  std::vector<double> expected;
  for (int z = 0; z < nz; ++z)
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        auto at = [&](int i, int j, int k) {
          return i >= 0 && i < nx && j >= 0 && j < ny && k >= 0 && k < nz ? double(in[(k * ny + j) * nx + i]) : 0;
        };
        expected.push_back(at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) + at(x, y + 1, z) + at(x, y, z - 1) +
                           at(x, y, z + 1) - 6 * at(x, y, z));
      }
  Device<float> din(in), out(in.size());
  Laplace<<<dim3((nx + 15) / 16, (ny + 7) / 8), dim3(16, 8)>>>(din, out, nx, ny, nz);
  return Equal(out.Host(), expected, 1e-5);
}
int main() {
  const bool ok = Test(1, 1, 1) && Test(17, 9, 5) && Test(40, 20, 7);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
