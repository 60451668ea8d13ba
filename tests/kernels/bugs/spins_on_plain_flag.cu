// SPDX-License-Identifier: Apache-2.0
// bug: kind=deadlock line=8,15 words=the compiler reads the flag once, because nothing says that it may change
#include "program.cuh"

__global__ void Pass(const float* in, int* flag, float* out) {
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      while (*flag == 0) {
      }
    }
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x];
  } else if (threadIdx.x == 0) {
    __threadfence();
    atomicExch(flag, 1);
  }
}
int main() {
  const int n = 32;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Device<int> flag(std::vector<int>(1, 0));
  Pass<<<2, 32>>>(din, flag, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
