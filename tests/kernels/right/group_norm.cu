// SPDX-License-Identifier: Apache-2.0
// Group norm of [batch][channel][pixel]: one block a group of channels.
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

__global__ void GroupNorm(const float* in, const float* gamma, const float* beta, float* out, int channels, int pixels,
                          int groups) {
  __shared__ float sums[2];
  const int per_group = channels / groups, count = per_group * pixels;
  const int first_channel = blockIdx.x % groups * per_group;
  in += static_cast<size_t>(blockIdx.x) * count;
  out += static_cast<size_t>(blockIdx.x) * count;
  if (threadIdx.x < 2) sums[threadIdx.x] = 0;
  __syncthreads();
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < count; i += blockDim.x) sum += in[i], squares += in[i] * in[i];
  atomicAdd(&sums[0], sum);
  atomicAdd(&sums[1], squares);
  __syncthreads();
  const float mean = sums[0] / count, scale = rsqrtf(sums[1] / count - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const int channel = first_channel + i / pixels;
    out[i] = (in[i] - mean) * scale * gamma[channel] + beta[channel];
  }
}
bool Test(int batch, int channels, int pixels, int groups) {
  Random random(channels + pixels);
  const std::vector<float> in = random.Values(batch * channels * pixels), gamma = random.Values(channels),
                           beta = random.Values(channels);
  std::vector<double> expected(in.size());
  const int count = channels / groups * pixels;
  for (int g = 0; g < batch * groups; ++g) {
    double mean = 0, variance = 0;
    for (int i = 0; i < count; ++i) mean += double(in[g * count + i]) / count;
    for (int i = 0; i < count; ++i) variance += (in[g * count + i] - mean) * (in[g * count + i] - mean) / count;
    for (int i = 0; i < count; ++i) {
      const int c = g % groups * (channels / groups) + i / pixels;
      expected[g * count + i] = (in[g * count + i] - mean) / std::sqrt(variance + 1e-5) * gamma[c] + beta[c];
    }
  }
  Device<float> din(in), dgamma(gamma), dbeta(beta), out(in.size());
  GroupNorm<<<batch * groups, 96>>>(din, dgamma, dbeta, out, channels, pixels, groups);
  return Equal(out.Host(), expected, 2e-4);
}
int main() {
  const bool ok = Test(1, 2, 5, 1) && Test(2, 6, 49, 3) && Test(3, 8, 100, 4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
