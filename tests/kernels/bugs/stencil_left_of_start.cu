// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=the first element has no left neighbour
#include "program.cuh"

__global__ void Difference(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] - in[i - 1];
}
int main() {
  const int n = 200;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i] - (i > 0 ? double(in[i - 1]) : 0);
  Device<float> din(in), out(n);
  Difference<<<2, 128>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
