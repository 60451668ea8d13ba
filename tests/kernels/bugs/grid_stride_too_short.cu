// SPDX-License-Identifier: Apache-2.0
// bug: kind=race line=6 words=the stride is the block, not the grid, so that blocks write the same elements
#include "program.cuh"

__global__ void AddOne(float* x, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x) x[i] += 1;
}
int main() {
  Device<float> x(std::vector<float>(500, 0.0f));
  AddOne<<<3, 64>>>(x, 500);
  const bool ok = Equal(x.Host(), std::vector<float>(500, 1.0f), 0);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
