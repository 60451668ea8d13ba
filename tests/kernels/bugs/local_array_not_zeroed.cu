// SPDX-License-Identifier: Apache-2.0
// bug: kind=uninitialised line=7,8 words=the counts in local memory start with anything
#include "program.cuh"

__global__ void Count(const int* in, int* out, int per_thread) {
  int counts[10];
  for (int j = 0; j < per_thread; ++j) ++counts[in[threadIdx.x * per_thread + j] / 10];
  for (int k = 0; k < 10; ++k) atomicAdd(&out[k], counts[k]);
}
int main() {
  const int n = 320;
  Random random(n);
  std::vector<int> in(n), expected(10);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    ++expected[in[i] / 10];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Count<<<1, 32>>>(din, out, 10);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
