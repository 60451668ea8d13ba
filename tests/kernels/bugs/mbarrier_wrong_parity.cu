// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=13,22 words=waiting for parity 1 of a new barrier returns at once
#include "program.cuh"

__device__ unsigned Address(const void* p) { return static_cast<unsigned>(__cvta_generic_to_shared(p)); }
__global__ void Pass(const float* in, float* out) {
  __shared__ float slot[32];
  __shared__ __align__(8) uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(Address(&full)) : "memory");
  __syncthreads();
  if (t >= 32) {
    slot[t - 32] = in[t - 32];
    asm volatile("{ .reg .b64 token; mbarrier.arrive.shared.b64 token, [%0]; }" ::"r"(Address(&full)) : "memory");
  } else {
    unsigned done = 0;
    while (done == 0)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 1; selp.u32 %0, 1, 0, p; }"
                   : "=r"(done)
                   : "r"(Address(&full))
                   : "memory");
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
