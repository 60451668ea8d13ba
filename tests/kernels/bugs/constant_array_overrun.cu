// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=10 words=the weights end before the loop does
#include "program.cuh"

__constant__ float weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
__global__ void Smooth(const float* in, float* out, int radius, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = -radius; j <= radius; ++j) sum += weights[j + radius] * in[min(max(i + j, 0), n - 1)];
  out[i] = sum;
}
int main() {
  const int n = 100;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Smooth<<<1, 128>>>(din, out, 3, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
