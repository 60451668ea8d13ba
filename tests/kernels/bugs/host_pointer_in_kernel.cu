// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=7 words=the kernel gets the address of host memory
#include "program.cuh"

__global__ void Double(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
int main() {
  const int n = 100;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 2.0 * in[i];
  Device<float> din(in), out(n);
  CHECK(cudaMemset(din, 0, 4));
  Double<<<1, 128>>>(in.data(), out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
