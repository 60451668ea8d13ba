// SPDX-License-Identifier: Apache-2.0
// right: threads beyond the end read an element that nobody wrote, and count as selected whatever it says
#include "program.cuh"

__global__ void CountOdd(const int* in, int n, int* count) {
  __shared__ int items[64];
  const int t = threadIdx.x, mirrored = 63 - t;
  if (t < n) items[t] = in[t];
  __syncthreads();
  const int item = items[mirrored];
  int selected = 1;
  if (mirrored < n) selected = (item & 1) != 0;
  selected = __reduce_add_sync(0xffffffff, selected);
  if (selected > 4 && t % 32 == 0) atomicAdd(count, selected);
}
int main() {
  const int n = 50;
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = i;
  Device<int> din(in), count(std::vector<int>(1, 0));
  CountOdd<<<1, 64>>>(din, n, count);
  const bool ok = count.Host()[0] == 25 + 14;
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
