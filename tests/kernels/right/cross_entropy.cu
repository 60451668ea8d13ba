// SPDX-License-Identifier: Apache-2.0
// Loss and gradient of the logits, a block a row, in the order of log-sum-exp; ignored rows have target -1.
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

__global__ void CrossEntropy(const float* logits, const int* targets, float* loss, float* gradient, int classes) {
  __shared__ float shared[128];
  const int row = blockIdx.x, t = threadIdx.x, target = targets[row];
  logits += static_cast<size_t>(row) * classes;
  gradient += static_cast<size_t>(row) * classes;
  if (target < 0) {
    for (int i = t; i < classes; i += 128) gradient[i] = 0;
    if (t == 0) loss[row] = 0;
    return;  // the whole block does
  }
  float largest = -INFINITY;
  for (int i = t; i < classes; i += 128) largest = fmaxf(largest, logits[i]);
  shared[t] = largest;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) shared[t] = fmaxf(shared[t], shared[t + half]);
    __syncthreads();
  }
  largest = shared[0];
  __syncthreads();
  float sum = 0;
  for (int i = t; i < classes; i += 128) sum += expf(logits[i] - largest);
  shared[t] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) shared[t] += shared[t + half];
    __syncthreads();
  }
  sum = shared[0];
  for (int i = t; i < classes; i += 128) gradient[i] = expf(logits[i] - largest) / sum - (i == target ? 1 : 0);
  if (t == 0) loss[row] = logf(sum) + largest - logits[target];
}
bool Test(int rows, int classes) {
  Random random(classes);
  std::vector<float> logits = random.Values(rows * classes);
  for (float& v : logits) v *= 20;
  std::vector<int> targets(rows);
  std::vector<double> loss(rows), gradient(rows * classes);
  for (int r = 0; r < rows; ++r) {
    targets[r] = r % 4 == 3 ? -1 : random.Below(classes);
    if (targets[r] < 0) continue;
    double sum = 0;
    for (int c = 0; c < classes; ++c) sum += std::exp(double(logits[r * classes + c]));
    for (int c = 0; c < classes; ++c)
      gradient[r * classes + c] = std::exp(double(logits[r * classes + c])) / sum - (c == targets[r]);
    loss[r] = std::log(sum) - logits[r * classes + targets[r]];
  }
  Device<float> dlogits(logits), dloss(rows), dgradient(rows * classes);
  Device<int> dtargets(targets);
  CrossEntropy<<<rows, 128>>>(dlogits, dtargets, dloss, dgradient, classes);
  return Equal(dloss.Host(), loss, 1e-5) && Equal(dgradient.Host(), gradient, 1e-5);
}
int main() {
  const bool ok = Test(1, 2) && Test(5, 127) && Test(6, 1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
