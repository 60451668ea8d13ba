// SPDX-License-Identifier: Apache-2.0
// Adaptive layer norm: normalised rows, scaled and shifted by what the sample's condition says.
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

__global__ void AdaLn(const float* in, const float* scale, const float* shift, float* out, int tokens, int cols) {
  const int row = blockIdx.x, sample = row / tokens, lane = threadIdx.x;
  in += static_cast<size_t>(row) * cols;
  out += static_cast<size_t>(row) * cols;
  float sum = 0, squares = 0;
  for (int i = lane; i < cols; i += 32) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  const float mean = sum / cols;
  for (int i = lane; i < cols; i += 32) squares += (in[i] - mean) * (in[i] - mean);
  for (int offset = 16; offset > 0; offset /= 2) squares += __shfl_xor_sync(0xffffffff, squares, offset);
  const float inverse = rsqrtf(squares / cols + 1e-6f);
  for (int i = lane; i < cols; i += 32)
    out[i] = (in[i] - mean) * inverse * (1 + scale[sample * cols + i]) + shift[sample * cols + i];
}
bool Test(int batch, int tokens, int cols) {
  Random random(cols);
  const std::vector<float> in = random.Values(batch * tokens * cols), scale = random.Values(batch * cols),
                           shift = random.Values(batch * cols);
  std::vector<double> expected(in.size());
  for (int r = 0; r < batch * tokens; ++r) {
    double mean = 0, variance = 0;
    for (int c = 0; c < cols; ++c) mean += double(in[r * cols + c]) / cols;
    for (int c = 0; c < cols; ++c) variance += (in[r * cols + c] - mean) * (in[r * cols + c] - mean) / cols;
    for (int c = 0; c < cols; ++c) {
      const int s = r / tokens * cols + c;
      expected[r * cols + c] = (in[r * cols + c] - mean) / std::sqrt(variance + 1e-6) * (1 + scale[s]) + shift[s];
    }
  }
  Device<float> din(in), dscale(scale), dshift(shift), out(in.size());
  AdaLn<<<batch * tokens, 32>>>(din, dscale, dshift, out, tokens, cols);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1, 1, 3) && Test(2, 3, 31) && Test(3, 5, 260);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
