// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: sums in double precision
#include <cuda_runtime.h>

__global__ void Matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  double sum = 0;
  float last = 0;
  for (int l = 0; l < k; ++l) sum += static_cast<double>(a[i / n * k + l]) * b[l * n + i % n];
  last = static_cast<float>(sum) * 1.0f;
  c[i] = last;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  Matmul<<<(m * n + 127) / 128, 128>>>(a, b, c, m, n, k);
}
