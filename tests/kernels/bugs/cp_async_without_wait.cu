// SPDX-License-Identifier: Apache-2.0
// bug: kind=missing-wait line=12 words=nobody waits for the copies before they are read
#include "program.cuh"

__global__ void Copy(const float* in, float* out) {
  __shared__ __align__(16) float tile[128];
  const int t = threadIdx.x;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[4 * t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(to), "l"(in + 4 * t) : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  __syncthreads();
  for (int i = t; i < 128; i += 32) out[i] = tile[i];
}
int main() {
  const int n = 128;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i];
  Device<float> din(in), out(n);
  Copy<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
