// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: a zeroed output and an atomic a warp
#include <cuda_runtime.h>

__global__ void Sum(const float* in, float* out, int n) {
  float v = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);
}
void launch_sum(const float* in, float* out, int n) {
  cudaMemset(out, 0, sizeof(float));
  Sum<<<4, 128>>>(in, out, n);
}
