// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=11 words=the last steps within one warp rely on lockstep
#include "program.cuh"

__global__ void Sum(const float* in, float* out) {
  __shared__ float v[64];
  const int t = threadIdx.x;
  v[t] = in[t];
  __syncthreads();
  if (t < 32) {
    for (int half = 32; half > 0; half /= 2) v[t] += v[t + half];
  }
  if (t == 0) *out = v[0];
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
