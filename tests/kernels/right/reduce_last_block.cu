// SPDX-License-Identifier: Apache-2.0
// Sum in one launch, in the same order every time: the block that finishes last adds up what the others have published.
#include "program.cuh"

__device__ unsigned finished = 0;
__device__ float BlockSum(float v) {
  __shared__ float values[128];
  values[threadIdx.x] = v;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  v = values[0];
  __syncthreads();
  return v;
}
__global__ void Sum(const float* in, volatile float* parts, float* out, int n) {
  __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < n; i += gridDim.x * 128) v += in[i];
  v = BlockSum(v);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = v;
    __threadfence();
    last = atomicAdd(&finished, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  v = 0;
  for (int i = threadIdx.x; i < gridDim.x; i += 128) v += parts[i];
  v = BlockSum(v);
  if (threadIdx.x == 0) {
    *out = v;
    finished = 0;
  }
}
bool Test(int n, int blocks) {
  const std::vector<float> in = Random(n).Values(n);
  std::vector<double> expected(1);
  for (float v : in) expected[0] += v;
  Device<float> din(in), parts(blocks), out(1);
  Sum<<<blocks, 128>>>(din, parts, out, n);
  return Equal(out.Host(), expected, 1e-4);
}
int main() {
  const bool ok = Test(1, 1) && Test(1000, 7) && Test(20011, 20) && Test(5000, 150);
  if (ok) std::printf("ok\n");
  return ok ? 0 : 1;
}
