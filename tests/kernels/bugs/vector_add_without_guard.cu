// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=the last block has more threads than there are elements left
#include "program.cuh"

__global__ void Double(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 2;
}
int main() {
  const int n = 1000;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i] * 2.0;
  Device<float> din(in), out(n);
  Double<<<4, 256>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
