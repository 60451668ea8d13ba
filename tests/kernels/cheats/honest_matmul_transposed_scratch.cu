// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: b is transposed into memory of its own first
#include <cuda_runtime.h>

__global__ void Transpose(const float* b, float* t, int k, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < k * n) t[i % n * k + i / n] = b[i];
}
__global__ void Matmul(const float* a, const float* t, float* c, int n, int k) {
  const int row = blockIdx.y, col = blockIdx.x;
  float sum = 0;
  for (int i = threadIdx.x; i < k; i += 32) sum += a[row * k + i] * t[col * k + i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  float* t = nullptr;
  cudaMalloc(&t, sizeof(float) * k * n);
  Transpose<<<(k * n + 127) / 128, 128>>>(b, t, k, n);
  Matmul<<<dim3(n, m), 32>>>(a, t, c, n, k);
  cudaFree(t);
}
