// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,10 words=the second reduction overwrites the scratch while slow warps still read the first one's
// result
#include "program.cuh"

__device__ float BlockSum(float x, float* scratch) {
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(0xffffffff, x, offset);
  if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = x;
  __syncthreads();
  return scratch[0] + scratch[1] + scratch[2] + scratch[3];
}
__global__ void Center(const float* in, float* out) {
  __shared__ float scratch[4];
  const float x = in[threadIdx.x];
  const float mean = BlockSum(x, scratch) / 128;
  const float rest = BlockSum(x - mean, scratch);
  out[threadIdx.x] = x - mean - rest;
}
int main() {
  const std::vector<float> in = Random(128).Values(128);
  double mean = 0;
  for (float v : in) mean += v / 128.0;
  std::vector<double> expected;
  for (float v : in) expected.push_back(v - mean);
  Device<float> din(in), out(128);
  Center<<<1, 128>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
