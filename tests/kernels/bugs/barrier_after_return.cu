// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=10 words=threads beyond the end return before the barrier that the others wait at
#include "program.cuh"

__global__ void Reverse(const float* in, float* out, int n) {
  __shared__ float v[128];
  const int t = threadIdx.x;
  if (t >= n) return;
  v[t] = in[t];
  __syncthreads();
  out[t] = v[n - 1 - t];
}
int main() {
  const int n = 100;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[n - 1 - i];
  Device<float> din(in), out(n);
  Reverse<<<1, 128>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
