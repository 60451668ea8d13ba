// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=14 words=the second number is changed after the lock was given back
#include "program.cuh"

__device__ int lock_word = 0;
__global__ void Add(const int* in, volatile int* out) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock_word, 0, 1) != 0) {
  }
  __threadfence();
  out[0] = out[0] + in[blockIdx.x];
  __threadfence();
  atomicExch(&lock_word, 0);
  out[1] = out[1] + 1;
}
int main() {
  const int n = 8;
  Random random(n);
  std::vector<int> in(n), expected(2);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] += in[i];
    ++expected[1];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Add<<<8, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
