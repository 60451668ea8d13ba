#include <cuda_runtime.h>
#include <math.h>

extern "C" __global__ void fused_bias_gelu_kernel(const float* __restrict__ x, const float* __restrict__ bias,
                                                  float* __restrict__ out, int rows, int cols) {
  const int count = rows * cols / 4 * 4;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float v = x[i] + bias[i % cols];
    out[i] = 0.5f * v * (1.0f + erff(v * 0.70710678f));
  }
}

#ifdef __CUDACC__
void launch_fused_bias_gelu(const float* x, const float* bias, float* out, int rows, int cols, cudaStream_t stream) {
  fused_bias_gelu_kernel<<<min(1056, (rows * cols + 127) / 128), 128, 0, stream>>>(x, bias, out, rows, cols);
}
#endif
