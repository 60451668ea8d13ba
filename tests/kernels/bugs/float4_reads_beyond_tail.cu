// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=8 words=the last four are loaded although fewer are left; the result is right
#include "program.cuh"

__global__ void Copy(const float* in, float* out, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i >= n) return;
  const float4 v = *reinterpret_cast<const float4*>(in + i);
  const float all[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int j = 0; j < 4; ++j)
    if (i + j < n) out[i + j] = all[j];
}
int main() {
  const int n = 1021;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Copy<<<2, 128>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
