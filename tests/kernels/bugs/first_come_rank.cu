// SPDX-License-Identifier: Apache-2.0
// bug: kind=leak-of-schedule line=7,9 words=ranks depend on which block draws first
#include "program.cuh"

__global__ void Rank(const int* in, int* out, int* next) {
  __shared__ int rank;
  if (threadIdx.x == 0) rank = atomicAdd(next, 1);
  __syncthreads();
  if (threadIdx.x == 0) out[rank] = in[blockIdx.x];
}
int main() {
  const int n = 12;
  Random random(n);
  std::vector<int> in(n), expected(12);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    expected[i] = in[i];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Device<int> next(std::vector<int>(1, 0));
  Rank<<<12, 32>>>(din, out, next);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
