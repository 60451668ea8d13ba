// SPDX-License-Identifier: Apache-2.0
// bug: kind=wrong-result line=17 words=more than 48 KiB of shared memory without asking for it, invalid argument
#include "program.cuh"

__global__ void Reverse(const float* in, float* out) {
  extern __shared__ float v[];
  v[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = v[blockDim.x - 1 - threadIdx.x];
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[127 - i];
  Device<float> din(in), out(n);
  Reverse<<<1, 128, 100000>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
