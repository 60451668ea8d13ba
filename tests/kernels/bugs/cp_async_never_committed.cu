// SPDX-License-Identifier: Apache-2.0
// bug: kind=missing-wait line=12 words=wait_group waits for committed groups only
#include "program.cuh"

__global__ void Copy(const float* in, float* out) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[t]));
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + t) : "memory");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[t] = tile[63 - t];
}
int main() {
  const int n = 64;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[63 - i];
  Device<float> din(in), out(n);
  Copy<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
