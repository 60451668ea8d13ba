// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=10 words=threads count in shared memory without atomics
#include "program.cuh"

__global__ void Histogram(const int* in, int* out, int n) {
  __shared__ int bins[100];
  if (threadIdx.x < 100) bins[threadIdx.x] = 0;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) ++bins[in[i]];
  __syncthreads();
  if (threadIdx.x < 100) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
int main() {
  const int n = 500;
  Random random(n);
  std::vector<int> in(n), expected(100);
  for (int i = 0; i < n; ++i) {
    in[i] = random.Below(100);
    ++expected[in[i]];
  }
  Device<int> din(in), out(std::vector<int>(expected.size(), 0));
  Histogram<<<4, 128>>>(din, out, n);
  const bool ok = Equal(out.Host(), expected, 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
