// SPDX-License-Identifier: Apache-2.0
// bug: kind=leak-of-schedule line=9,10 words=places are drawn in the order in which warps come, though the order must be
// kept
#include "program.cuh"

__global__ void Keep(const int* in, int* out, int* count) {
  const int v = in[threadIdx.x];
  if (v > 50) {
    const int place = atomicAdd(count, 1);
    out[place] = v;
  }
}
int main() {
  const int n = 256;
  Random random(n);
  std::vector<int> in(n), expected(0);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    if (in[i] > 50) expected.push_back(in[i]);
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Device<int> count(std::vector<int>(1, 0));
  Keep<<<1, 256>>>(din, out, count);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
