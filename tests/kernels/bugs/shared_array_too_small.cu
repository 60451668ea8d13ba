// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=9,11 words=the array is as long as the block, without the halo's place
#include "program.cuh"

__global__ void Sum3(const float* in, float* out, int n) {
  __shared__ float tile[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  tile[t] = in[i];
  if (t < 2) tile[64 + t] = i + 64 < n ? in[i + 64] : 0;
  __syncthreads();
  out[i] = tile[t] + tile[t + 1] + tile[t + 2];
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i)
    expected[i] = in[i] + (i + 1 < n ? double(in[i + 1]) : 0) + (i + 2 < n ? double(in[i + 2]) : 0);
  Device<float> din(in), out(n);
  Sum3<<<2, 64>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
