// SPDX-License-Identifier: Apache-2.0
// Maximum: a tree in shared memory a block, a second launch over the blocks' results.
#include "program.cuh"

__global__ void Maximum(const float* in, float* out, int n) {
  __shared__ float values[128];
  float best = -INFINITY;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) best = fmaxf(best, in[i]);
  values[threadIdx.x] = best;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] = fmaxf(values[threadIdx.x], values[threadIdx.x + half]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = values[0];
}
bool Test(int n) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1, -INFINITY);
  for (float v : in) expected[0] = std::fmax(expected[0], v);
  const int blocks = (n + 511) / 512;
  Device<float> din(in), parts(blocks), out(1);
  Maximum<<<blocks, 128>>>(din, parts, n);
  Maximum<<<1, 128>>>(parts, out, blocks);
  return Equal(out.Host(), expected, 0);
}
int main() {
  const bool ok = Test(1) && Test(129) && Test(5000) && Test(70001);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
