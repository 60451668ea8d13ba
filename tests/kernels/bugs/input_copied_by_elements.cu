// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=7 words=cudaMemcpy gets the number of elements where it takes bytes
#include "program.cuh"

__global__ void Double(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * in[i];
}
int main() {
  const int n = 400;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 2.0 * in[i];
  Device<float> din(in), out(n);
  Device<float> copy(n);
  CHECK(cudaMemcpy(copy, in.data(), n, cudaMemcpyHostToDevice));
  Double<<<4, 128>>>(copy, out, n);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
