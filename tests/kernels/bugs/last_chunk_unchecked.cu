// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=8 words=each thread takes four elements, the last ones more than are left
#include "program.cuh"

__global__ void Negate(const float* in, float* out, int n) {
  const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (first >= n) return;
  for (int j = 0; j < 4; ++j) out[first + j] = -in[first + j];
}
int main() {
  const int n = 498;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = -in[i];
  Device<float> din(in), out(n);
  Negate<<<1, 128>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
