// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: a transposed copy in managed memory, made and read by kernels
#include <cuda_runtime.h>

__global__ void Transpose(const float* b, float* bt, int n, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n * k) bt[i % n * k + i / n] = b[i];
}
__global__ void Multiply(const float* a, const float* bt, float* c, int m, int n, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  float sum = 0;
  for (int l = 0; l < k; ++l) sum += a[i / n * k + l] * bt[i % n * k + l];
  c[i] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  float* bt;
  cudaMallocManaged(&bt, sizeof(float) * n * k);
  Transpose<<<(n * k + 127) / 128, 128>>>(b, bt, n, k);
  Multiply<<<(m * n + 127) / 128, 128>>>(a, bt, c, m, n, k);
  cudaDeviceSynchronize();
  cudaFree(bt);
}
