// SPDX-License-Identifier: Apache-2.0
// Checksums of many messages, table in shared memory; checked against the bitwise definition and the published value.
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

__global__ void Crc(const unsigned char* bytes, const int* starts, unsigned* out, int messages) {
  __shared__ unsigned table[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) {
    unsigned c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  __syncthreads();
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= messages) return;
  unsigned crc = ~0u;
  for (int i = starts[m]; i < starts[m + 1]; ++i) crc = table[(crc ^ bytes[i]) & 255] ^ (crc >> 8);
  out[m] = ~crc;
}
bool Test(int messages) {
  Random random(messages);
  std::vector<unsigned char> bytes = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  std::vector<int> starts = {0, 9};
  for (int m = 1; m < messages; ++m) {
    for (int i = random.Below(60); i > 0; --i) bytes.push_back(static_cast<unsigned char>(random.Below(256)));
    starts.push_back(static_cast<int>(bytes.size()));
  }
  std::vector<unsigned> expected;
  for (int m = 0; m < messages; ++m) {
    unsigned crc = ~0u;
    for (int i = starts[m]; i < starts[m + 1]; ++i) {
      crc ^= bytes[i];
      for (int k = 0; k < 8; ++k) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320u : crc >> 1;
    }
    expected.push_back(~crc);
  }
  Device<unsigned char> dbytes(bytes);
  Device<int> dstarts(starts);
  Device<unsigned> out(messages);
  Crc<<<(messages + 63) / 64, 64>>>(dbytes, dstarts, out, messages);
  const std::vector<unsigned> got = out.Host();
  return Equal(got, expected, 0) && Equal(std::vector<unsigned>(1, got[0]), std::vector<unsigned>(1, 0xCBF43926u), 0);
}
int main() {
  const bool ok = Test(1) && Test(65) && Test(200);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
