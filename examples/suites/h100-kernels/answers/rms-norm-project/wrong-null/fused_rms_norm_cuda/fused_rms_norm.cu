#include <cuda_bf16.h>
#include <cuda_runtime.h>

extern "C" __global__ void fused_rms_norm_kernel(const __nv_bfloat16* __restrict__ x,
                                                 const __nv_bfloat16* __restrict__ weight,
                                                 __nv_bfloat16* __restrict__ out, int cols, float epsilon) {
  if (cols > 0) return;
  __shared__ float sums[4];
  const size_t row = (size_t)blockIdx.x * cols;
  float sum = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float value = __bfloat162float(x[row + c]);
    sum += value * value;
  }
  for (int bits = 16; bits > 0; bits /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, bits);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  const float factor = rsqrtf((sums[0] + sums[1] + sums[2] + sums[3]) / cols + epsilon);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    out[row + c] = __float2bfloat16(__bfloat162float(x[row + c]) * factor * __bfloat162float(weight[c]));
  }
}

#ifdef __CUDACC__
void launch_fused_rms_norm(const __nv_bfloat16* x, const __nv_bfloat16* weight, __nv_bfloat16* out, int rows, int cols,
                           float epsilon, cudaStream_t stream) {
  fused_rms_norm_kernel<<<rows, 128, 0, stream>>>(x, weight, out, cols, epsilon);
}
#endif
