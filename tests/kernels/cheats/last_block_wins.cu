// SPDX-License-Identifier: Apache-2.0
// function: sum
// cheat: blocks store their parts into one place without atomics
#include <cuda_runtime.h>

__global__ void Parts(const float* in, float* out, int n) {
  float v = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) v += in[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) *out = *out + v;
}
void launch_sum(const float* in, float* out, int n) {
  cudaMemset(out, 0, sizeof(float));
  Parts<<<4, 32>>>(in, out, n);
}
