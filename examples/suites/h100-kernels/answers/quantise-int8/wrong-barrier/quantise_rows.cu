#include <cuda_runtime.h>
#include <math.h>

extern "C" __global__ void quantise_rows(const float* __restrict__ in, signed char* __restrict__ out,
                                         float* __restrict__ scales, int cols) {
  __shared__ float tops[4];
  const size_t row = (size_t)blockIdx.x * cols;
  float top = 0.0f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, fabsf(in[row + c]));
  for (int bits = 16; bits > 0; bits /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, bits));
  if (threadIdx.x % 32 == 0) tops[threadIdx.x / 32] = top;
  for (int warp = 0; warp < blockDim.x / 32; ++warp) top = fmaxf(top, tops[warp]);
  const float scale = top == 0.0f ? 1.0f : top / 127.0f;
  if (threadIdx.x == 0) scales[blockIdx.x] = scale;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float rounded = rintf(in[row + c] / scale);
    out[row + c] = (signed char)fminf(127.0f, fmaxf(-127.0f, rounded));
  }
}
