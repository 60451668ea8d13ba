#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>

__device__ __forceinline__ float gelu(float v) {
  return 0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v)));
}

extern "C" __global__ void fused_geglu_kernel(const __half* __restrict__ x, __half* __restrict__ out, int cols) {
  const __half* gate = x + (size_t)blockIdx.x * 2 * cols;
  const __half* value = gate + cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    out[(size_t)blockIdx.x * cols + c] = __float2half(gelu(__half2float(gate[c])) * __half2float(value[c]));
  }
}

#ifdef __CUDACC__
void launch_fused_geglu(const __half* x, __half* out, int rows, int cols, cudaStream_t stream) {
  fused_geglu_kernel<<<rows, 128, 0, stream>>>(x, out, cols);
}
#endif
