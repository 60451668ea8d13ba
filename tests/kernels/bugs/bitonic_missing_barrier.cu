// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=14,15 words=one barrier a stage in place of one a step
#include "program.cuh"

__global__ void Sort(const int* in, int* out) {
  __shared__ int k[128];
  const int t = threadIdx.x;
  k[t] = in[t];
  k[t + 64] = in[t + 64];
  __syncthreads();
  for (int size = 2; size <= 128; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int i = 2 * t - (t & (stride - 1));
      const int a = k[i], b = k[i + stride];
      if ((a > b) == ((i & size) == 0)) k[i] = b, k[i + stride] = a;
    }
    __syncthreads();
  }
  out[t] = k[t];
  out[t + 64] = k[t + 64];
}
int main() {
  const int n = 128;
  Random random(n);
  std::vector<int> in(n), expected(128);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[i] = in[i];
    if (i == n - 1) std::sort(expected.begin(), expected.end());
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Sort<<<1, 64>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
