// SPDX-License-Identifier: Apache-2.0
// One kernel template for several types and operations.
#include "program.cuh"

struct Square {
  template <typename T>
  __host__ __device__ T operator()(T v) const {
    return v * v;
  }
};
template <int kShift>
struct Shifted {
  template <typename T>
  __host__ __device__ T operator()(T v) const {
    return static_cast<T>(v + kShift);
  }
};
template <typename T, int kPerThread, typename Operation>
__global__ void Map(const T* in, T* out, int n, Operation operation) {
#pragma unroll
  for (int j = 0; j < kPerThread; ++j) {
    const int i = (blockIdx.x * kPerThread + j) * blockDim.x + threadIdx.x;
    if (i < n) out[i] = operation(in[i]);
  }
}
template <typename T, int kPerThread, typename Operation>
bool TestMap(int n, Operation operation) {
  Random random(n);
  std::vector<T> in(n), expected(n);
  for (int i = 0; i < n; ++i) {
    in[i] = static_cast<T>(random.Below(20) - 10);
    expected[i] = operation(in[i]);
  }
  Device<T> din(in), out(n);
  T *from = din, *to = out;
  Map<T, kPerThread><<<(n + 32 * kPerThread - 1) / (32 * kPerThread), 32>>>(from, to, n, operation);
  return Equal(out.Host(), expected, 0);
}
bool Test(int n) {
  return TestMap<float, 1>(n, Square()) && TestMap<int, 4>(n, Shifted<3>()) && TestMap<double, 2>(n, Square()) &&
         TestMap<short, 3>(n, Shifted<-5>()) && TestMap<signed char, 8>(n, Shifted<1>()) &&
         TestMap<int64_t, 2>(n, Square());
}
int main() {
  const bool ok = Test(1) && Test(97) && Test(600);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
