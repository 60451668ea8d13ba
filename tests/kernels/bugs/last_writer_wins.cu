// SPDX-License-Identifier: Apache-2.0
// bug: kind=leak-of-schedule line=6 words=whichever warp comes last leaves its value
#include "program.cuh"

__global__ void Last(const int* in, int* out) {
  if (threadIdx.x % 32 == 31) atomicExch(out, in[threadIdx.x]);
}
int main() {
  const int n = 256;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] = in[i];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Last<<<1, 256>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
