// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,10 words=the halves wait at different named barriers, though they share the array
#include "program.cuh"

__global__ void Swap(const float* in, float* out) {
  __shared__ float v[64];
  const int t = threadIdx.x, half = t / 32;
  v[t] = in[t];
  asm volatile("bar.sync %0, 32;" ::"r"(half + 1) : "memory");
  out[t] = v[t ^ 32];
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i ^ 32];
  Device<float> din(in), out(n);
  Swap<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
