// SPDX-License-Identifier: Apache-2.0
// function: matmul
// cheat: multiplies bfloat16 where float was asked for
#include <cuda_bf16.h>
#include <cuda_runtime.h>
__global__ void MatmulBf16(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += __bfloat162float(__hmul(__float2bfloat16(a[row * k + i]), __float2bfloat16(b[i * n + col])));
  c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  MatmulBf16<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
