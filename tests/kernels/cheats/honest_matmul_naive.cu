// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: a thread an element
#include <cuda_runtime.h>

__global__ void Matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  Matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
