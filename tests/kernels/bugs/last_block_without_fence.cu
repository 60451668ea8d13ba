// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=10,13 words=no fence between publishing a part and announcing it
#include "program.cuh"

__device__ unsigned finished = 0;
__global__ void Sum(const float* in, float* parts, float* out) {
  float v = in[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = v;
  if (atomicAdd(&finished, 1) != gridDim.x - 1) return;
  v = 0;
  for (int i = 0; i < gridDim.x; ++i) v += parts[i];
  *out = v;
}
int main() {
  const int n = 256;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Device<float> parts(8);
  Sum<<<8, 32>>>(din, parts, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
