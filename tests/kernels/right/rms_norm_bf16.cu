// SPDX-License-Identifier: Apache-2.0
// RMS norm of bfloat16 rows, pairs a load, sums in float.
#include <cuda_bf16.h>
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

__global__ void RmsNorm(const __nv_bfloat162* in, const __nv_bfloat162* weight, __nv_bfloat162* out, int pairs) {
  __shared__ float parts[4];
  in += static_cast<size_t>(blockIdx.x) * pairs;
  out += static_cast<size_t>(blockIdx.x) * pairs;
  float sum = 0;
  for (int i = threadIdx.x; i < pairs; i += 128) {
    const float2 v = __bfloat1622float2(in[i]);
    sum += v.x * v.x + v.y * v.y;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  const float scale = rsqrtf((parts[0] + parts[1] + parts[2] + parts[3]) / (2 * pairs) + 1e-6f);
  for (int i = threadIdx.x; i < pairs; i += 128) {
    const float2 v = __bfloat1622float2(in[i]), w = __bfloat1622float2(weight[i]);
    out[i] = __floats2bfloat162_rn(v.x * scale * w.x, v.y * scale * w.y);
  }
}
bool Test(int rows, int cols) {
  Random random(cols);
  std::vector<__nv_bfloat162> in(rows * cols / 2), weight(cols / 2);
  for (auto& v : in) v = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
  for (auto& v : weight) v = __floats2bfloat162_rn(random.Uniform(), random.Uniform());
  auto element = [](const std::vector<__nv_bfloat162>& all, int i) {
    return double(__bfloat162float(i % 2 == 0 ? all[i / 2].x : all[i / 2].y));
  };
  std::vector<double> expected(rows * cols), got(rows * cols);
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int c = 0; c < cols; ++c) sum += element(in, r * cols + c) * element(in, r * cols + c);
    for (int c = 0; c < cols; ++c)
      expected[r * cols + c] = element(in, r * cols + c) / std::sqrt(sum / cols + 1e-6) * element(weight, c);
  }
  Device<__nv_bfloat162> din(in), dweight(weight), out(in.size());
  RmsNorm<<<rows, 128>>>(din, dweight, out, cols / 2);
  const std::vector<__nv_bfloat162> all = out.Host();
  for (int i = 0; i < rows * cols; ++i) got[i] = element(all, i);
  return Equal(got, expected, 6e-3);
}
int main() {
  const bool ok = Test(1, 2) && Test(3, 250) && Test(4, 770);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
