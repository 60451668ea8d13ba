// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=the output's rows are as long as the input has rows, not columns
#include "program.cuh"

__global__ void Transpose(const float* in, float* out, int rows, int cols) {
  const int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
  if (row < rows && col < cols) out[col * cols + row] = in[row * cols + col];
}
int main() {
  const int n = 20 * 50;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i % 20 * 50 + i / 20];
  Device<float> din(in), out(n);
  Transpose<<<dim3(4, 2), dim3(16, 16)>>>(din, out, 20, 50);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
