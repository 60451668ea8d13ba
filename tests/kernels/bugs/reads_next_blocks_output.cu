// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=7,9 words=a block reads what another block of the same launch writes
#include "program.cuh"

__global__ void TwoSteps(const float* in, float* middle, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  middle[i] = 2 * in[i];
  __syncthreads();
  out[i] = middle[(i + 1) % n];
}
int main() {
  const int n = 256;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 2.0 * in[(i + 1) % n];
  Device<float> din(in), out(n);
  Device<float> middle(n);
  TwoSteps<<<4, 64>>>(din, middle, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
