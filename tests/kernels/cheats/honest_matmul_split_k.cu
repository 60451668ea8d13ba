// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: shares of k added by atomics into a zeroed output
#include <cuda_runtime.h>

__global__ void Matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = blockIdx.z * 32; i < min(k, (static_cast<int>(blockIdx.z) + 1) * 32); ++i)
    sum += a[row * k + i] * b[i * n + col];
  atomicAdd(&c[row * n + col], sum);
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  cudaMemsetAsync(c, 0, sizeof(float) * m * n);
  Matmul<<<dim3((n + 15) / 16, (m + 15) / 16, (k + 31) / 32), dim3(16, 16)>>>(a, b, c, m, n, k);
}
