// SPDX-License-Identifier: Apache-2.0
// Votes for keys: lanes with the same key elect a leader, which adds their number with one atomic.
#include "program.cuh"

__global__ void Votes(const int* keys, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned active = __ballot_sync(0xffffffff, i < n);
  if (i >= n) return;
  const int key = keys[i];
  const unsigned same = __match_any_sync(active, key);
  if (lane == __ffs(same) - 1) atomicAdd(&counts[key], __popc(same));
}
bool Test(int n) {
  Random random(n);
  std::vector<int> keys(n), expected(10);
  for (int& key : keys) ++expected[key = random.Below(10)];
  Device<int> dkeys(keys), counts(std::vector<int>(10, 0));
  Votes<<<(n + 95) / 96, 96>>>(dkeys, counts, n);
  return Equal(counts.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(77) && Test(1000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
