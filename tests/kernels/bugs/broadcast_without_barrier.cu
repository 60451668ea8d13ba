// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=7,9 words=one thread's value in shared memory is read by other warps without a barrier
#include "program.cuh"

__global__ void Subtract(const float* in, float* out) {
  __shared__ float first;
  if (threadIdx.x == 0) first = in[blockIdx.x * 64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  out[i] = in[i] - first;
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = double(in[i]) - in[i / 64 * 64];
  Device<float> din(in), out(n);
  Subtract<<<2, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
