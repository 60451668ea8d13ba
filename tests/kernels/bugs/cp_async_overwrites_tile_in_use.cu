// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=11,19 words=the next copy goes into the slot that other warps may still read
#include "program.cuh"

__global__ void Copy(const float* in, float* out, int steps) {
  __shared__ float tile[2][64];
  const int t = threadIdx.x;
  auto load = [&](int step) {
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(&tile[step % 2][t]));
    if (step < steps)
      asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(in + step * 64 + t) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  };
  load(0);
  for (int step = 0; step < steps; ++step) {
    load(step + 1);
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    out[step * 64 + t] = tile[step % 2][63 - t];
  }
}
int main() {
  const int n = 256;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[i / 64 * 64 + 63 - i % 64];
  Device<float> din(in), out(n);
  Copy<<<1, 64>>>(din, out, n / 64);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
