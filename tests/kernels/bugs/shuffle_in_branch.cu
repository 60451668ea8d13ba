// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=10 words=the shuffle's mask names lanes that don't get there
#include "program.cuh"

__global__ void Sum(const float* in, float* out, int n) {
  const int lane = threadIdx.x;
  if (lane < n) {
    float v = in[lane];
    for (int offset = 16; offset > 0; offset /= 2) {
      v += __shfl_down_sync(0xffffffff, v, offset);
    }
    if (lane == 0) *out = v;
  }
}
int main() {
  const int n = 20;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<1, 32>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
