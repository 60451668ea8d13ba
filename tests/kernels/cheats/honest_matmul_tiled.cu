// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: tiles in shared memory
#include <cuda_runtime.h>

__global__ void Matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[16][16], bs[16][16];
  const int x = threadIdx.x, y = threadIdx.y, col = blockIdx.x * 16 + x, row = blockIdx.y * 16 + y;
  float sum = 0;
  for (int first = 0; first < k; first += 16) {
    as[y][x] = row < m && first + x < k ? a[row * k + first + x] : 0;
    bs[y][x] = first + y < k && col < n ? b[(first + y) * n + col] : 0;
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[y][i] * bs[i][x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  Matmul<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(a, b, c, m, n, k);
}
