// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=row is compared with cols and col with rows
#include "program.cuh"

__global__ void Scale(const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row < cols && col < rows) out[row * cols + col] = 3 * in[row * cols + col];
}
int main() {
  const int n = 10 * 40;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 3.0 * in[i];
  Device<float> din(in), out(n);
  Scale<<<dim3(3, 3), dim3(16, 16)>>>(din, out, 10, 40);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
