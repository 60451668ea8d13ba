// SPDX-License-Identifier: Apache-2.0
// Transpose of a square whose tile is stored with exchanged columns (row xor column) in place of padding.
#include "program.cuh"

__global__ void Transpose(const float* in, float* out, int n) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x;
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    tile[y][x ^ y] = in[(blockIdx.y * 32 + y) * n + blockIdx.x * 32 + x];
  __syncthreads();
  for (int y = threadIdx.y; y < 32; y += blockDim.y)
    out[(blockIdx.x * 32 + y) * n + blockIdx.y * 32 + x] = tile[x][y ^ x];
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n * n);
  std::vector<float> expected(in.size());
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) expected[c * n + r] = in[r * n + c];
  Device<float> din(in), out(in.size());
  Transpose<<<dim3(n / 32, n / 32), dim3(32, 4)>>>(din, out, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(32) && Test(96) && Test(160);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
