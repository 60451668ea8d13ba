// SPDX-License-Identifier: Apache-2.0
// Inclusive sums within groups of 32 by shuffles.
#include "program.cuh"

__global__ void Scan(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  int v = i < n ? in[i] : 0;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int left = __shfl_up_sync(0xffffffff, v, offset);
    if (lane >= offset) v += left;
  }
  if (i < n) out[i] = v;
}
bool Test(int n) {
  Random random(n);
  std::vector<int> in(n), expected(n);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100) - 50;
    expected[i] = in[i] + (i % 32 == 0 ? 0 : expected[i - 1]);
  }
  Device<int> din(in), out(n);
  Scan<<<(n + 63) / 64, 64>>>(din, out, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(45) && Test(2000);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
