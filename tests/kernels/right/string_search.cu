// SPDX-License-Identifier: Apache-2.0
// Counts the places of a word in a text and finds the first one.
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

__constant__ char word[16];
__global__ void Search(const char* text, int length, int word_length, int* count, int* first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool found = i + word_length <= length;
  for (int j = 0; found && j < word_length; ++j) found = text[i + j] == word[j];
  if (!found) return;
  atomicAdd(count, 1);
  atomicMin(first, i);
}
bool Test(int length, int word_length) {
  Random random(length);
  std::vector<char> text(length), w(word_length);
  for (char& c : text) c = static_cast<char>('a' + random.Below(2));
  for (char& c : w) c = static_cast<char>('a' + random.Below(2));
  std::vector<int> count(1), first(1, length);
  for (int i = 0; i + word_length <= length; ++i) {
    if (!std::equal(w.begin(), w.end(), text.begin() + i)) continue;
    ++count[0];
    first[0] = std::min(first[0], i);
  }
  CHECK(cudaMemcpyToSymbol(word, w.data(), word_length));
  Device<char> dtext(text);
  Device<int> dcount(std::vector<int>(1, 0)), dfirst(std::vector<int>(1, length));
  Search<<<(length + 127) / 128, 128>>>(dtext, length, word_length, dcount, dfirst);
  return Equal(dcount.Host(), count, 0) && Equal(dfirst.Host(), first, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(3, 5) && Test(1000, 6) && Test(5001, 3);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
