// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,9 words=the tile is read across before all rows are in it
#include "program.cuh"

__global__ void Transpose(const float* in, float* out, int n) {
  __shared__ float tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x];
  out[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = tile[x][y];
}
int main() {
  const int n = 1024;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i % 32 * 32 + i / 32];
  Device<float> din(in), out(n);
  Transpose<<<dim3(2, 2), dim3(16, 16)>>>(din, out, 32);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
