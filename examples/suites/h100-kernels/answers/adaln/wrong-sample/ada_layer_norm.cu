#include <cuda_fp16.h>
#include <cuda_runtime.h>

// The sum of the values of all threads of the block; `shared` has an element for each warp.
__device__ float block_sum(float value, float* shared) {
  for (int bits = 16; bits > 0; bits /= 2) value += __shfl_xor_sync(0xffffffffu, value, bits);
  __syncthreads();  // nobody reads the sums of an earlier call any more
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  float total = 0.0f;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) total += shared[warp];
  return total;
}

extern "C" __global__ void ada_layer_norm(const __half* __restrict__ x, const float* __restrict__ scale,
                                          const float* __restrict__ shift, __half* __restrict__ out,
                                          int rows_per_sample, int cols, float epsilon) {
  __shared__ float sums[4];
  const size_t row = (size_t)blockIdx.x * cols;
  const size_t sample = (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += __half2float(x[row + c]);
  const float mean = block_sum(sum, sums) / cols;
  float squares = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float difference = __half2float(x[row + c]) - mean;
    squares += difference * difference;
  }
  const float factor = rsqrtf(block_sum(squares, sums) / cols + epsilon);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float value = (__half2float(x[row + c]) - mean) * factor;
    out[row + c] = __float2half(value * (1.0f + scale[sample + c]) + shift[sample + c]);
  }
}
