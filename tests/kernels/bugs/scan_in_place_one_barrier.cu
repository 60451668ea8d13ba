// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=11,12 words=reading and writing the same array in one step needs a barrier between
#include "program.cuh"

__global__ void Scan(const float* in, float* out) {
  __shared__ float v[64];
  const int t = threadIdx.x;
  v[t] = in[t];
  __syncthreads();
  for (int offset = 1; offset < 64; offset *= 2) {
    const float left = t >= offset ? v[t - offset] : 0;
    v[t] += left;
    __syncthreads();
  }
  out[t] = v[t];
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i] + (i == 0 ? 0 : expected[i - 1]);
  Device<float> din(in), out(n);
  Scan<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
