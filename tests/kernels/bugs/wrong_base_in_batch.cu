// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=8 words=the batch's offset is counted twice for the output
#include "program.cuh"

__global__ void Copy(const float* in, float* out, int n) {
  out += blockIdx.y * n;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[blockIdx.y * n + i] = in[blockIdx.y * n + i];
}
int main() {
  const int n = 300;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Copy<<<dim3(1, 3), 128>>>(din, out, 100);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
