// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=10 words=the warps run through the loop with the barrier different numbers of times
#include "program.cuh"

__global__ void Sum(const float* in, float* out, int n) {
  __shared__ float v[64];
  float sum = 0;
  for (int i = threadIdx.x; i < n; i += 64) {
    v[threadIdx.x] = in[i];
    __syncthreads();
    sum += v[threadIdx.x];
  }
  atomicAdd(out, sum);
}
int main() {
  const int n = 150;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<1, 64>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
