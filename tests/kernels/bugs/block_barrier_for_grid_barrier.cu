// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=7,9 words=__syncthreads where all blocks have to wait for each other
#include "program.cuh"

__global__ void Normalize(const float* in, float* total, float* out) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  atomicAdd(total, fabsf(in[i]));
  __syncthreads();
  out[i] = in[i] / *total;
}
int main() {
  const std::vector<float> in = Random(9).Values(256);
  double sum = 0;
  std::vector<double> expected;
  for (float v : in) sum += std::fabs(v);
  for (float v : in) expected.push_back(v / sum);
  Device<float> din(in), total(std::vector<float>(1, 0.0f)), out(256);
  Normalize<<<4, 64>>>(din, total, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
