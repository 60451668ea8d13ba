// SPDX-License-Identifier: Apache-2.0
// function: transpose
// honest: a padded tile in shared memory
#include <cuda_runtime.h>

__global__ void Transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const int x = blockIdx.x * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int row = blockIdx.y * 32 + y;
    if (x < cols && row < rows) tile[y][threadIdx.x] = in[static_cast<size_t>(row) * cols + x];
  }
  __syncthreads();
  const int row = blockIdx.y * 32 + threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += 8) {
    const int col = blockIdx.x * 32 + y;
    if (col < cols && row < rows) out[static_cast<size_t>(col) * rows + row] = tile[threadIdx.x][y];
  }
}
void launch_transpose(const float* in, float* out, int rows, int cols) {
  Transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(in, out, rows, cols);
}
