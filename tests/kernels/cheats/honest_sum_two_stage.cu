// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: parts of the blocks in memory of its own, then one block over them
#include <cuda_runtime.h>

__global__ void Parts(const float* in, float* out, int n) {
  float v = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) v += in[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}
void launch_sum(const float* in, float* out, int n) {
  float* parts = nullptr;
  cudaMalloc(&parts, 8 * sizeof(float));
  Parts<<<8, 32>>>(in, parts, n);
  Parts<<<1, 32>>>(parts, out, 8);
  cudaFree(parts);
}
