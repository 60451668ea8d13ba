// SPDX-License-Identifier: Apache-2.0
// bug: kind=deadlock line=8,9 words=the early exit leaves the lock taken, the next block spins for ever
#include "program.cuh"

__device__ int lock_word = 0;
__global__ void Add(const int* in, volatile int* out) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  __threadfence();
  if (in[blockIdx.x] < 1000) return;
  out[0] = out[0] + in[blockIdx.x];
  __threadfence();
  atomicExch(&lock_word, 0);
}
int main() {
  const int n = 4;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] += in[i] >= 1000 ? in[i] : 0;
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Add<<<4, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
