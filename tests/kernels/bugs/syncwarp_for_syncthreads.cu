// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,10 words=__syncwarp doesn't order what different warps do
#include "program.cuh"

__global__ void Shift(const float* in, float* out) {
  __shared__ float v[128];
  const int t = threadIdx.x;
  v[t] = in[t];
  __syncwarp();
  out[t] = v[(t + 1) % 128];
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[(i + 1) % 128];
  Device<float> din(in), out(n);
  Shift<<<1, 128>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
