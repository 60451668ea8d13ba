// SPDX-License-Identifier: Apache-2.0
// Inclusive sums of a long array in one pass: each block publishes its sum, then looks back through those before it.
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

struct Status {
  int state;
  int aggregate;
  int prefix;
};  // state: 0 nothing yet, 1 aggregate, 2 prefix
__device__ int ticket;
__global__ void Scan(const int* in, int* out, Status* status, int n) {
  __shared__ int tile, before;
  __shared__ int values[128];
  const int t = threadIdx.x;
  if (t == 0)
    tile = atomicAdd(&ticket, 1);  // in the order in which blocks start, so that nobody waits for one that hasn't
  __syncthreads();
  const int i = tile * 128 + t;
  values[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < 128; offset *= 2) {
    const int left = t >= offset ? values[t - offset] : 0;
    __syncthreads();
    values[t] += left;
    __syncthreads();
  }
  if (t == 0) {
    volatile Status* own = status + tile;
    int sum = 0;
    own->aggregate = values[127];
    __threadfence();
    atomicExch(&status[tile].state, 1);
    for (int p = tile - 1; p >= 0; --p) {
      volatile Status* other = status + p;
      int state;
      do state = atomicAdd(&status[p].state, 0);
      while (state == 0);
      __threadfence();
      if (state == 2) {
        sum += other->prefix;
        break;
      }
      sum += other->aggregate;
    }
    own->prefix = sum + values[127];
    __threadfence();
    atomicExch(&status[tile].state, 2);
    before = sum;
  }
  __syncthreads();
  if (i < n) out[i] = before + values[t];
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), expected(n);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(10);
    expected[i] = in[i] + (i == 0 ? 0 : expected[i - 1]);
  }
  const int blocks = (n + 127) / 128, zero = 0;
  CHECK(cudaMemcpyToSymbol(ticket, &zero, sizeof zero));
  Device<int> din(in), out(n);
  Device<Status> status(std::vector<Status>(blocks, {0, 0, 0}));
  Scan<<<blocks, 128>>>(din, out, status, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(129) && Test(3000) && Test(10001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
