// SPDX-License-Identifier: Apache-2.0
// Sorts each block's 512 keys in shared memory; missing ones are padded with the largest key.
#include "program.cuh"

__global__ void Sort(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned keys[512];
  const int first = blockIdx.x * 512;
  for (int i = threadIdx.x; i < 512; i += 256) keys[i] = first + i < n ? in[first + i] : 0xffffffffu;
  __syncthreads();
  for (int size = 2; size <= 512; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int i = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
      const bool up = (i & size) == 0;
      const unsigned a = keys[i], b = keys[i + stride];
      if ((a > b) == up) keys[i] = b, keys[i + stride] = a;
      __syncthreads();
    }
  }
  for (int i = threadIdx.x; i < 512; i += 256)
    if (first + i < n) out[first + i] = keys[i];
}
bool Test(int n) {
  Random random(n);
  std::vector<unsigned> in(n);
  for (unsigned& key : in) key = random.Bits();
  std::vector<unsigned> expected = in;
  for (int first = 0; first < n; first += 512)
    std::sort(expected.begin() + first, expected.begin() + std::min(n, first + 512));
  Device<unsigned> din(in), out(n);
  Sort<<<(n + 511) / 512, 256>>>(din, out, n);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(500) && Test(512) && Test(1300);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
