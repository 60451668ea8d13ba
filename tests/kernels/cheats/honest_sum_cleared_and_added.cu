// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: cudaMemsetAsync and one atomic addition of each warp, on a stream of its own
#include <cuda_runtime.h>

__global__ void Sum(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
void launch_sum(const float* in, float* out, int n) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemsetAsync(out, 0, sizeof(float), stream);
  Sum<<<8, 64, 0, stream>>>(in, out, n);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}
