// SPDX-License-Identifier: Apache-2.0
// function: matmul
// honest: tiles that cuda::pipeline copies while others are multiplied
#include <cuda_runtime.h>

#include <cooperative_groups.h>
#include <cuda/pipeline>

__global__ void Multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float as[2][8][8], bs[2][8][8];
  auto pipe = cuda::make_pipeline();
  const int x = threadIdx.x, y = threadIdx.y;
  const int row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x;
  const auto load = [&](int slot, int begin) {
    pipe.producer_acquire();
    if (row < m && begin + x < k) {
      cuda::memcpy_async(&as[slot][y][x], &a[row * k + begin + x], sizeof(float), pipe);
    } else {
      as[slot][y][x] = 0;
    }
    if (col < n && begin + y < k) {
      cuda::memcpy_async(&bs[slot][y][x], &b[(begin + y) * n + col], sizeof(float), pipe);
    } else {
      bs[slot][y][x] = 0;
    }
    pipe.producer_commit();
  };
  const int tiles = (k + 7) / 8;
  float sum = 0;
  load(0, 0);
  for (int t = 0; t < tiles; ++t) {
    if (t + 1 < tiles) {
      load((t + 1) % 2, (t + 1) * 8);
      cuda::pipeline_consumer_wait_prior<1>(pipe);
    } else {
      cuda::pipeline_consumer_wait_prior<0>(pipe);
    }
    __syncthreads();
    for (int i = 0; i < 8; ++i) sum += as[t % 2][y][i] * bs[t % 2][i][x];
    pipe.consumer_release();
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
}
void launch_matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  Multiply<<<dim3((n + 7) / 8, (m + 7) / 8), dim3(8, 8)>>>(a, b, c, m, n, k);
}
