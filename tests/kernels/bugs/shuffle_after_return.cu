// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=9 words=lanes beyond the end have returned, and the mask still names them
#include "program.cuh"

__global__ void Shift(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = in[i];
  const float next = __shfl_down_sync(0xffffffff, v, 1);
  out[i] = v + (threadIdx.x % 32 == 31 || i + 1 == n ? 0 : next);
}
int main() {
  const int n = 50;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i] + (i % 32 == 31 || i + 1 == n ? 0 : double(in[i + 1]));
  Device<float> din(in), out(n);
  Shift<<<1, 64>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
