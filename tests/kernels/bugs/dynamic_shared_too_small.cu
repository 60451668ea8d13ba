// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=8,10 words=the launch asks for elements, not bytes
#include "program.cuh"

__global__ void Reverse(const float* in, float* out) {
  extern __shared__ float v[];
  const int t = threadIdx.x;
  v[t] = in[t];
  __syncthreads();
  out[t] = v[blockDim.x - 1 - t];
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[127 - i];
  Device<float> din(in), out(n);
  Reverse<<<1, 128, 128>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
