// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=7 words=cudaMemcpy of the second input was forgotten
#include "program.cuh"

__global__ void Add(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
int main() {
  const int n = 100;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 2.0 * in[i];
  Device<float> din(in), out(n);
  Device<float> other(n);
  Add<<<1, 128>>>(din, other, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
