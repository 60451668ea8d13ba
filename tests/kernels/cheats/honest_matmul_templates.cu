// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: a template with the tile and the operation, chosen at run time
#include <cuda_runtime.h>

struct MultiplyAdd {
  __device__ float operator()(float a, float b, float sum) const { return fmaf(a, b, sum); }
};
template <int kTile, class Operation>
__global__ void Multiply(const float* a, const float* b, float* c, int m, int n, int k, Operation operation) {
  __shared__ float as[kTile][kTile + 1], bs[kTile][kTile + 1];
  const int row = blockIdx.y * kTile + threadIdx.y, col = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int begin = 0; begin < k; begin += kTile) {
    const int l = begin + threadIdx.x, j = begin + threadIdx.y;
    as[threadIdx.y][threadIdx.x] = row < m && l < k ? a[row * k + l] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = col < n && j < k ? b[j * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = operation(as[threadIdx.y][i], bs[i][threadIdx.x], sum);
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
template <int kTile>
void Launch(const float* a, const float* b, float* c, int m, int n, int k) {
  const dim3 grid((n + kTile - 1) / kTile, (m + kTile - 1) / kTile), block(kTile, kTile);
  Multiply<kTile><<<grid, block>>>(a, b, c, m, n, k, MultiplyAdd());
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  if (m * n <= 256) {
    Launch<8>(a, b, c, m, n, k);
  } else {
    Launch<16>(a, b, c, m, n, k);
  }
}
