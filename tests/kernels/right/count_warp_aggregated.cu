// SPDX-License-Identifier: Apache-2.0
// Counts what is above a threshold: one atomic a warp, by ballot.
#include "program.cuh"

__global__ void Count(const float* in, int* count, float threshold, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned votes = __ballot_sync(0xffffffff, i < n && in[i] > threshold);
  if (threadIdx.x % 32 == 0 && votes != 0) atomicAdd(count, __popc(votes));
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<int> expected(1);
  for (float v : in) expected[0] += v > 0.25f;
  Device<float> din(in);
  Device<int> count(std::vector<int>(1, 0));
  Count<<<(n + 95) / 96, 96>>>(din, count, 0.25f, n);
  return Equal(count.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(33) && Test(96) && Test(10000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
