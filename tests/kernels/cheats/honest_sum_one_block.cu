// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: one block, always in the same order
#include <cuda_runtime.h>

__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float v[256];
  const int t = threadIdx.x;
  float own = 0;
  for (int i = t; i < n; i += 256) own += in[i];
  v[t] = own;
  __syncthreads();
  for (int half = 128; half > 0; half /= 2) {
    if (t < half) v[t] += v[t + half];
    __syncthreads();
  }
  if (t == 0) *out = v[0];
}
void launch_sum(const float* in, float* out, int n) { Sum<<<1, 256>>>(in, out, n); }
