// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=9 words=the lower half reads from lanes that aren't in the mask
#include "program.cuh"

__global__ void Pair(const float* in, float* out) {
  const int lane = threadIdx.x;
  const float v = in[lane];
  float other = 0;
  if (lane < 16) other = __shfl_down_sync(0x0000ffffu, v, 8);
  out[lane] = v + other;
}
int main() {
  const int n = 32;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i] + (i < 16 ? double(in[i + 8]) : 0);
  Device<float> din(in), out(n);
  Pair<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
