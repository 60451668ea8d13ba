// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=12 words=the loop runs over the padding of the tile's rows too
#include "program.cuh"

__global__ void RowSums(const float* in, float* out) {
  __shared__ float tile[16][17];
  const int x = threadIdx.x, y = threadIdx.y;
  tile[y][x] = in[y * 16 + x];
  __syncthreads();
  if (x != 0) return;
  float sum = 0;
  for (int i = 0; i < 17; ++i) sum += tile[y][i];
  atomicAdd(out, sum);
}
int main() {
  const int n = 256;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  RowSums<<<1, dim3(16, 16)>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
