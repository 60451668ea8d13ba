// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: one cooperative launch, whose blocks wait for each other
#include <cuda_runtime.h>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;
__device__ float partial[4];
__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float sums[2];
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0] + sums[1];
  cg::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *out = partial[0] + partial[1] + partial[2] + partial[3];
}
void launch_sum(const float* in, float* out, int n) {
  void* arguments[] = {&in, &out, &n};
  cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(Sum), dim3(4), dim3(64), arguments, 0, 0);
}
