// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: the block that is last adds up the others' parts; the counter is set back for the next call
#include <cuda_runtime.h>

__device__ unsigned finished = 0;
__device__ float parts[16];
__global__ void Sum(const float* in, float* out, int n) {
  float v = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += gridDim.x * 32) v += in[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = v;
  __threadfence();
  if (atomicAdd(&finished, 1) != gridDim.x - 1) return;
  __threadfence();
  v = 0;
  for (int i = 0; i < gridDim.x; ++i) v += static_cast<volatile float*>(parts)[i];
  *out = v;
  finished = 0;
}
void launch_sum(const float* in, float* out, int n) { Sum<<<16, 32>>>(in, out, n); }
