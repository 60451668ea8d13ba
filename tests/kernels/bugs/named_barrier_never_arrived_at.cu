// SPDX-License-Identifier: Apache-2.0
// bug: kind=deadlock line=13 words=the producer warp arrives at barrier 1, the consumers wait at barrier 2
#include "program.cuh"

__global__ void Pass(const float* in, float* out) {
  __shared__ float slot[32];
  const int t = threadIdx.x;
  if (t >= 32) {
    slot[t - 32] = in[t - 32];
    __threadfence_block();
    asm volatile("bar.arrive 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");
    out[t] = slot[31 - t];
  }
}
int main() {
  const int n = 32;
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(n);
  for (int i = 0; i < n; ++i) expected[i] = in[31 - i];
  Device<float> din(in), out(n);
  Pass<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 1e-5);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
