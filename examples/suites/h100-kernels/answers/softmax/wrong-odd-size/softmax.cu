#include <cuda_runtime.h>
#include <math.h>

// The sum, or the largest, of the block's values, for each of its threads.
template <bool kSum>
__device__ float block_reduce(float value, float* shared) {
  for (int bits = 16; bits > 0; bits /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, value, bits);
    value = kSum ? value + other : fmaxf(value, other);
  }
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < blockDim.x / 32; ++warp) {
    value = kSum ? value + shared[warp] : fmaxf(value, shared[warp]);
  }
  return value;
}

extern "C" __global__ void softmax(const float* __restrict__ in, float* __restrict__ out, int cols) {
  __shared__ float tops[4], sums[4];
  const float* row = in + (size_t)blockIdx.x * cols;
  float top = -INFINITY;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, row[c]);
  top = block_reduce<false>(top, tops);
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols / 2 * 2; c += blockDim.x) sum += expf(row[c] - top);
  sum = block_reduce<true>(sum, sums);
  const float factor = 1.0f / sum;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    out[(size_t)blockIdx.x * cols + c] = expf(row[c] - top) * factor;
  }
}
