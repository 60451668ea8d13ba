// SPDX-License-Identifier: Apache-2.0
// bug: kind=deadlock line=9 words=the barrier waits for 96 threads, 64 come
#include "program.cuh"

__global__ void Shift(const float* in, float* out) {
  __shared__ float v[64];
  const int t = threadIdx.x;
  v[t] = in[t];
  asm volatile("bar.sync 1, 96;" ::: "memory");
  out[t] = v[(t + 1) % 64];
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[(i + 1) % 64];
  Device<float> din(in), out(n);
  Shift<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
