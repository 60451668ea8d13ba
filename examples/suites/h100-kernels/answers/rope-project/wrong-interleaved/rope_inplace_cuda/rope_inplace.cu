#include <cuda_runtime.h>
#include <stdint.h>

extern "C" __global__ void rope_inplace_kernel(float* __restrict__ x, const int64_t* __restrict__ positions,
                                               const float* __restrict__ cos, const float* __restrict__ sin,
                                               int heads, int half) {
  const size_t entry = (size_t)positions[blockIdx.x] * half;
  float* token = x + (size_t)blockIdx.x * heads * half * 2;
  for (int pair = threadIdx.x; pair < heads * half; pair += blockDim.x) {
    const int i = pair % half;
    float* first = token + pair / half * half * 2 + 2 * i;
    const float a = first[0], b = first[1];
    first[0] = a * cos[entry + i] - b * sin[entry + i];
    first[1] = b * cos[entry + i] + a * sin[entry + i];
  }
}

#ifdef __CUDACC__
void launch_rope_inplace(float* x, const int64_t* positions, const float* cos, const float* sin, int tokens, int heads,
                         int half, cudaStream_t stream) {
  rope_inplace_kernel<<<tokens, 64, 0, stream>>>(x, positions, cos, sin, heads, half);
}
#endif
