// SPDX-License-Identifier: Apache-2.0
// bug: kind=divergent-barrier line=6 words=lane 31 votes though the mask doesn't name it
#include "program.cuh"

__global__ void Count(const int* in, int* out) {
  const unsigned votes = __ballot_sync(0x7fffffffu, in[threadIdx.x] > 50);
  if (threadIdx.x == 0) *out = __popc(votes);
}
int main() {
  const int n = 32;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] += in[i] > 50;
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Count<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
