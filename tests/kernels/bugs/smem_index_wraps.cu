// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8 words=two lanes of different warps use the same slot of a scratch that is too short
#include "program.cuh"

__global__ void Sum(const float* in, float* out) {
  __shared__ float scratch[32];
  const int t = threadIdx.x;
  scratch[t % 32] = in[t];
  __syncthreads();
  if (t < 32) atomicAdd(out, scratch[t]);
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
