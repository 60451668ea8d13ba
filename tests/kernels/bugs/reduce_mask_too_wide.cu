// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=7 words=redux.sync with a full mask in a branch of half the lanes
#include "program.cuh"

__global__ void Sum(const int* in, int* out) {
  if (threadIdx.x % 2 == 0) {
    const int sum = __reduce_add_sync(0xffffffff, in[threadIdx.x]);
    if (threadIdx.x == 0) *out = sum;
  }
}
int main() {
  const int n = 32;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    if (i % 2 == 0) expected[0] += in[i];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Sum<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
