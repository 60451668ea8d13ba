// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=9 words=compare and store on a shared maximum isn't atomic
#include "program.cuh"

__global__ void Largest(const int* in, int* out) {
  __shared__ int best;
  if (threadIdx.x == 0) best = -1;
  __syncthreads();
  if (in[threadIdx.x] > best) best = in[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) *out = best;
}
int main() {
  const int n = 96;
  Random random(n);
  std::vector<int> in(n), expected(1);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[0] = std::max(expected[0], in[i]);
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Largest<<<1, 96>>>(din, out);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
