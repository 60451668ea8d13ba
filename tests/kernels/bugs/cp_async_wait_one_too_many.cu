// SPDX-License-Identifier: Apache-2.0
// bug: kind=missing-wait line=18 words=wait_group 1 at the last step too, when the last group is the one needed
#include "program.cuh"

__global__ void Double(const float* in, float* out, int steps) {
  __shared__ __align__(16) float tile[2][64];
  const int t = threadIdx.x;
  auto load = [&](int step) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[step % 2][t]));
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + step * 64 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  load(0);
  for (int step = 0; step < steps; ++step) {
    if (step + 1 < steps) load(step + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[step * 64 + t] = 2 * tile[step % 2][63 - t];
    __syncthreads();
  }
}
int main() {
  const int n = 256;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = 2.0 * in[i / 64 * 64 + 63 - i % 64];
  Device<float> din(in), out(n);
  Double<<<1, 64>>>(din, out, n / 64);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
