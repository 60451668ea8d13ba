// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=i <= n lets one thread beyond the end through
#include "program.cuh"

__global__ void Square(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = in[i] * in[i];
}
int main() {
  const int n = 777;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = double(in[i]) * in[i];
  Device<float> din(in), out(n);
  Square<<<7, 128>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
