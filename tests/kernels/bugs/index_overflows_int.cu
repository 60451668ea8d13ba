// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=9 words=i * step needs more than 32 bits
#include "program.cuh"

__global__ void Sample(const float* in, float* out, int step, int divisor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int scaled = static_cast<int>(static_cast<unsigned>(i) * static_cast<unsigned>(step));
  out[i] = in[scaled / divisor];
}
int main() {
  const int n = 512;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[static_cast<int64_t>(i) * 5000000 / 5000000];
  Device<float> din(in), out(n);
  Sample<<<4, 128>>>(din, out, 5000000, 5000000, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
