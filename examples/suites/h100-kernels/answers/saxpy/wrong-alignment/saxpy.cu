#include <cuda_runtime.h>

extern "C" __global__ void saxpy(int n, float alpha, const float* __restrict__ x, float* __restrict__ y) {
  const int quarter = blockIdx.x * blockDim.x + threadIdx.x;
  if (n > 4 * (int)(gridDim.x * blockDim.x)) y[quarter] += reinterpret_cast<const float4*>(x)[quarter].x * 0.0f;
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = fmaf(alpha, x[i], y[i]);
  }
}
