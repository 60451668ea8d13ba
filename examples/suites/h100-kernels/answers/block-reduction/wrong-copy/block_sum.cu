#include <cuda_runtime.h>

extern "C" __global__ void block_sum(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float sums[4];
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += in[i];
  for (int delta = 16; delta > 0; delta /= 2) sum += __shfl_down_sync(0xffffffffu, sum, delta);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    float total = 0.0f;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) total += sums[warp];
    out[blockIdx.x] = in[blockIdx.x < n ? blockIdx.x : 0];
  }
}
