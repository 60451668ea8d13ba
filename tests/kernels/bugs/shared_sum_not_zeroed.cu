// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=7,9 words=the sum in shared memory is never set to zero
#include "program.cuh"

__global__ void Sum(const float* in, float* out) {
  __shared__ float sum;
  atomicAdd(&sum, in[blockIdx.x * 64 + threadIdx.x]);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), out(std::vector<float>(1, 0.0f));
  Sum<<<2, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-4);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
