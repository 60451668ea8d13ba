// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=7 words=blocks add to one number without atomics
#include "program.cuh"

__global__ void Count(const int* in, int* out) {
  const int count = __syncthreads_count(in[blockIdx.x * 32 + threadIdx.x] > 50);
  if (threadIdx.x == 0) *out += count;
}
int main() {
  const int n = 256;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] += in[i] > 50;
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Count<<<8, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
