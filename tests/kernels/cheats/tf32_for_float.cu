// SPDX-License-Identifier: Apache-2.0
// function: matmul
// cheat: rounds the factors to TF32 where float was asked for
#include <cuda_runtime.h>

__device__ float Rounded(float v) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(v));
  return __uint_as_float(bits);
}
__global__ void MatmulTf32(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += Rounded(a[row * k + i]) * Rounded(b[i * n + col]);
  c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  MatmulTf32<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
