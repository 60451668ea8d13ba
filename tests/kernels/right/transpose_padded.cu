// SPDX-License-Identifier: Apache-2.0
// Transpose through a shared tile with a column of padding, any sizes.
#include "program.cuh"

__global__ void Transpose(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (col < cols && row + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(row + j) * cols + col];
  __syncthreads();
  col = blockIdx.y * 32 + threadIdx.x;
  row = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (col < rows && row + j < cols) out[(row + j) * rows + col] = tile[threadIdx.x][threadIdx.y + j];
}
bool Test(int rows, int cols) {
  const std::vector<float> in = Random(rows).Values(rows * cols);
  std::vector<float> expected(in.size());
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) expected[c * rows + r] = in[r * cols + c];
  Device<float> din(in), out(in.size());
  Transpose<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8)>>>(din, out, rows, cols);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1, 1) && Test(32, 64) && Test(33, 95) && Test(100, 31);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
