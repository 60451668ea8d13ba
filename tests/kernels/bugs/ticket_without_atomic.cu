// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=8,9 words=tickets are drawn by reading and incrementing
#include "program.cuh"

__device__ int ticket = 0;
__global__ void Take(const int* in, int* out) {
  if (threadIdx.x != 0) return;
  const int mine = ticket;
  ticket = mine + 1;
  atomicAdd(&out[mine % 8], in[0] - in[0] + 1);
}
int main() {
  const int n = 32;
  Random random(n);
  std::vector<int> in(n), expected(8);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    if (i < 8) expected[i] = 1;
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Take<<<8, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
