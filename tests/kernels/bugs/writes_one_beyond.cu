// SPDX-License-Identifier: Apache-2.0
// bug: kind=out-of-bounds line=12 words=the exclusive sum is stored at i + 1, for the last element too
#include "program.cuh"

__global__ void Scan(const int* in, int* out) {
  const int lane = threadIdx.x;
  int v = in[lane];
  for (int offset = 1; offset < 32; offset *= 2) {
    const int left = __shfl_up_sync(0xffffffff, v, offset);
    if (lane >= offset) v += left;
  }
  out[lane + 1] = v;
  if (lane == 0) out[0] = 0;
}
int main() {
  const int n = 32;
  Random random(n);
  std::vector<int> in(n), expected(32);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[i] = i == 0 ? 0 : expected[i - 1] + in[i - 1];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Scan<<<1, 32>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
