// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=6,7 words=a thread reads the counter plainly while others still add to it
#include "program.cuh"

__global__ void Count(const int* in, int* count, int* out) {
  if (in[threadIdx.x] > 50) atomicAdd(count, 1);
  if (threadIdx.x == blockDim.x - 1) *out = *count;
}
int main() {
  const int n = 128;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] += in[i] > 50;
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Device<int> count(std::vector<int>(1, 0));
  Count<<<1, 128>>>(din, count, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
