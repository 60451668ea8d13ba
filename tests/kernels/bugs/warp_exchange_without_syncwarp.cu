// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,9 words=lanes of a warp exchange through shared memory without __syncwarp
#include "program.cuh"

__global__ void Reverse(const float* in, float* out) {
  __shared__ float v[32];
  const int lane = threadIdx.x;
  v[lane] = in[lane];
  out[lane] = v[31 - lane];
}
int main() {
  const int n = 32;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[31 - i];
  Device<float> din(in), out(n);
  Reverse<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
