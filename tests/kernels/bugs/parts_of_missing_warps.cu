// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=12 words=32 parts are added up though the block has four warps
#include "program.cuh"

__global__ void Sum(const float* in, float* out) {
  __shared__ float parts[32];
  float v = in[threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < 32) {
    v = parts[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_xor_sync(0xffffffff, v, offset);
    if (threadIdx.x == 0) *out = v;
  }
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<1, 128>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
