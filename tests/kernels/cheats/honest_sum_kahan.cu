// SPDX-License-Identifier: Apache-2.0
// function: sum
// honest: compensated sums in one warp
#include <cuda_runtime.h>

__global__ void Sum(const float* in, float* out, int n) {
  float sum = 0, rest = 0;
  for (int i = threadIdx.x; i < n; i += 32) {
    const float y = __fsub_rn(in[i], rest), t = __fadd_rn(sum, y);
    rest = __fsub_rn(__fsub_rn(t, sum), y);
    sum = t;
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) *out = sum;
}
void launch_sum(const float* in, float* out, int n) { Sum<<<1, 32>>>(in, out, n); }
