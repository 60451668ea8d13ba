// SPDX-License-Identifier: Apache-2.0
// bug: kind=deadlock line=8,9 words=each block waits for the next one before it says that it is ready
#include "program.cuh"

__global__ void Ring(const int* in, int* flags, int* out) {
  if (threadIdx.x != 0) return;
  const int next = (blockIdx.x + 1) % gridDim.x;
  while (atomicAdd(&flags[next], 0) == 0) {
  }
  __threadfence();
  atomicExch(&flags[blockIdx.x], 1);
  out[blockIdx.x] = in[next];
}
int main() {
  const int n = 3;
  Random random(n);
  std::vector<int> in(n), expected(3);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    if (i == n - 1) expected = {in[1], in[2], in[0]};
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Device<int> flags(std::vector<int>(3, 0));
  Ring<<<3, 32>>>(din, flags, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
